/* columns_help.c - a sentence on each column, by its name; a kind may have its own. */
#include "api/columns/columns_internal.h"
#include "base/idiom.h"
#include "base/banned.h"

static const struct {
    struct str column;
    struct str kind; /* empty: of all others */
    struct str text;
} rows[] = {
    { STR("Name"), STR(""),
      STR("Name must be unique within a namespace, among objects of one kind. Cannot be "
          "changed.") },
    { STR("Age"), STR(""),
      STR("CreationTimestamp is a timestamp of when the server first stored the object.") },
    { STR("Created At"), STR(""),
      STR("CreationTimestamp is a timestamp of when the server first stored the object.") },
    { STR("Status"), STR(""), STR("The state it is in, in one word.") },
    { STR("Status"), STR("Pod"), STR("What the pod is doing, or what keeps it from running.") },
    { STR("Status"), STR("Node"), STR("Whether the node is ready and takes new pods.") },
    { STR("Status"), STR("Job"), STR("Whether the job is running, done or has failed.") },
    { STR("Status"), STR("ComponentStatus"), STR("Whether the component is healthy.") },
    { STR("Ready"), STR(""), STR("How many of its pods are ready.") },
    { STR("Ready"), STR("Pod"), STR("How many of its containers are ready, out of all.") },
    { STR("Ready"), STR("Deployment"), STR("How many pods are ready, out of those wanted.") },
    { STR("Ready"), STR("StatefulSet"), STR("How many pods are ready, out of those wanted.") },
    { STR("Desired"), STR(""), STR("How many pods there should be.") },
    { STR("Desired"), STR("DaemonSet"), STR("On how many nodes a pod should run.") },
    { STR("Current"), STR(""), STR("How many pods there are now.") },
    { STR("Current"), STR("DaemonSet"), STR("On how many of these nodes a pod runs.") },
    { STR("Up-to-date"), STR(""), STR("How many pods are made from the newest template.") },
    { STR("Available"), STR(""), STR("How many pods have been ready for long enough.") },
    { STR("Available"), STR("APIService"), STR("Whether the server behind it answers.") },
    { STR("Available"), STR("Scale"), STR("How many pods there are now.") },
    { STR("Containers"), STR(""), STR("The names of the containers.") },
    { STR("Images"), STR(""), STR("The images of the containers.") },
    { STR("Selector"), STR(""), STR("Which pods belong to it, by their labels.") },
    { STR("Node Selector"), STR(""), STR("Which labels a node must have.") },
    { STR("Pod Labels"), STR(""), STR("The labels that pods made from it get.") },
    { STR("Controller"), STR(""), STR("The object that owns and manages it.") },
    { STR("Controller"), STR("IngressClass"), STR("The program that serves this class.") },
    { STR("Revision"), STR(""), STR("The number of the revision; later ones are higher.") },

    /* Pods and nodes */
    { STR("Restarts"), STR(""), STR("How often containers were started again, and when last.") },
    { STR("IP"), STR(""), STR("The address of the pod.") },
    { STR("Node"), STR(""), STR("The node it belongs to.") },
    { STR("Nominated Node"), STR(""),
      STR("The node that is being cleared for the pod by preemption.") },
    { STR("Readiness Gates"), STR(""),
      STR("How many of the conditions it asks for are true, out of all.") },
    { STR("Roles"), STR(""), STR("What the node is meant for, by its labels.") },
    { STR("Version"), STR(""), STR("The version of the node agent.") },
    { STR("Internal-IP"), STR(""), STR("The node's address inside the cluster.") },
    { STR("External-IP"), STR(""), STR("Where it can be reached from outside.") },
    { STR("OS-Image"), STR(""), STR("The operating system of the node.") },
    { STR("Kernel-Version"), STR(""), STR("The kernel of the node, and its architecture.") },
    { STR("Container-Runtime"), STR(""), STR("The program that runs the node's containers.") },

    /* Jobs, scale and budgets */
    { STR("Completions"), STR(""), STR("How many pods have succeeded, out of those needed.") },
    { STR("Duration"), STR(""), STR("How long the job has taken, or has been running.") },
    { STR("Schedule"), STR(""), STR("When jobs are made, in the form of cron.") },
    { STR("Timezone"), STR(""), STR("The time zone that the schedule is meant in.") },
    { STR("Suspend"), STR(""), STR("Whether it pauses.") },
    { STR("Active"), STR(""), STR("How many of its jobs are running.") },
    { STR("Last Schedule"), STR(""), STR("How long ago a job was made last.") },
    { STR("Reference"), STR(""), STR("The object whose number of pods is changed.") },
    { STR("Targets"), STR(""), STR("What is measured: now, and as it should be.") },
    { STR("MinPods"), STR(""), STR("The lowest number of pods it may choose.") },
    { STR("MaxPods"), STR(""), STR("The highest number of pods it may choose.") },
    { STR("Replicas"), STR(""), STR("How many pods there are now.") },
    { STR("Min Available"), STR(""), STR("How many pods must stay up, as a number or a share.") },
    { STR("Max Unavailable"), STR(""), STR("How many pods may be down, as a number or a share.") },
    { STR("Allowed Disruptions"), STR(""), STR("How many pods may be evicted right now.") },

    /* Events and components */
    { STR("Last Seen"), STR(""), STR("How long ago it happened last.") },
    { STR("First Seen"), STR(""), STR("How long ago it happened for the first time.") },
    { STR("Type"), STR(""), STR("Which sort it is of.") },
    { STR("Type"), STR("Service"), STR("How the service can be reached.") },
    { STR("Type"), STR("Secret"), STR("What the data are for, which decides on their keys.") },
    { STR("Type"), STR("Event"), STR("Whether it is normal or a warning.") },
    { STR("Type"), STR("PriorityLevelConfiguration"),
      STR("Whether the requests of this level are limited.") },
    { STR("Reason"), STR(""), STR("Why it is in this state, in one word.") },
    { STR("Reason"), STR("Event"), STR("What happened, in one word.") },
    { STR("Object"), STR(""), STR("The object that it happened to.") },
    { STR("Subobject"), STR(""), STR("The part of the object that it happened to.") },
    { STR("Source"), STR(""), STR("The program that reported it.") },
    { STR("Message"), STR(""), STR("What there is to say, for people.") },
    { STR("Count"), STR(""), STR("How often it happened.") },
    { STR("Error"), STR(""), STR("What went wrong.") },

    /* Settings, quotas, leases, classes */
    { STR("Data"), STR(""), STR("How many entries it has.") },
    { STR("Request"), STR(""), STR("Used and allowed: what is requested or counted.") },
    { STR("Limit"), STR(""), STR("Used and allowed: the sum of limits.") },
    { STR("Holder"), STR(""), STR("Who holds the lease.") },
    { STR("LeaseName"), STR(""), STR("The lease that it stands for.") },
    { STR("BinaryVersion"), STR(""), STR("The version of the program.") },
    { STR("EmulationVersion"), STR(""), STR("The version that the program behaves as.") },
    { STR("Value"), STR(""), STR("The priority that pods of this class get.") },
    { STR("Value"), STR("DeviceTaintRule"), STR("The value of the taint.") },
    { STR("Global-Default"), STR(""), STR("Whether it counts for pods that name no class.") },
    { STR("PreemptionPolicy"), STR(""), STR("Whether its pods may push out others.") },
    { STR("Handler"), STR(""), STR("What the runtime calls it.") },

    /* Network */
    { STR("Cluster-IP"), STR(""), STR("The address of the service inside the cluster.") },
    { STR("Port(s)"), STR(""), STR("The ports of the service, and those on each node.") },
    { STR("Endpoints"), STR(""), STR("The addresses behind it; the first few.") },
    { STR("AddressType"), STR(""), STR("Which sort of addresses it holds.") },
    { STR("Ports"), STR(""), STR("The ports that are open; the first few.") },
    { STR("Ports"), STR("Ingress"), STR("The ports that are open: the second with TLS.") },
    { STR("Class"), STR(""), STR("The class that serves it.") },
    { STR("Hosts"), STR(""), STR("The host names it is for; the first few.") },
    { STR("Address"), STR(""), STR("Where it can be reached.") },
    { STR("Parameters"), STR(""), STR("An object with more settings.") },
    { STR("Pod-Selector"), STR(""), STR("Which pods it is for, by their labels.") },
    { STR("CIDRs"), STR(""), STR("The ranges that service addresses are taken from.") },
    { STR("ParentRef"), STR(""), STR("The object that the address belongs to.") },

    /* Storage */
    { STR("Volume"), STR(""), STR("The volume that answers the claim.") },
    { STR("Capacity"), STR(""), STR("How much fits in.") },
    { STR("Access Modes"), STR(""), STR("How it can be mounted, in abbreviations.") },
    { STR("Reclaim Policy"), STR(""), STR("What becomes of the volume when its claim is gone.") },
    { STR("ReclaimPolicy"), STR(""), STR("What becomes of a volume when its claim is gone.") },
    { STR("Claim"), STR(""), STR("The claim that it answers.") },
    { STR("StorageClass"), STR(""), STR("The class that it belongs to.") },
    { STR("VolumeAttributesClass"), STR(""), STR("The class of attributes that can be changed.") },
    { STR("VolumeMode"), STR(""), STR("Whether it is a file system or a bare device.") },
    { STR("Provisioner"), STR(""), STR("The program that makes the volumes.") },
    { STR("VolumeBindingMode"), STR(""), STR("Whether a volume is made at once or for a pod.") },
    { STR("AllowVolumeExpansion"), STR(""), STR("Whether volumes may grow.") },
    { STR("DriverName"), STR(""), STR("The driver that the class is for.") },
    { STR("Attacher"), STR(""), STR("The driver that attaches the volume.") },
    { STR("PV"), STR(""), STR("The volume to attach.") },
    { STR("Attached"), STR(""), STR("Whether it is attached.") },
    { STR("AttachRequired"), STR(""), STR("Whether volumes must be attached before a mount.") },
    { STR("PodInfoOnMount"), STR(""), STR("Whether the driver is told about the pod.") },
    { STR("StorageCapacity"), STR(""), STR("Whether the driver says how much room it has.") },
    { STR("TokenRequests"), STR(""), STR("For whom the driver gets tokens of the pod.") },
    { STR("RequiresRepublish"), STR(""), STR("Whether mounts are renewed from time to time.") },
    { STR("Modes"), STR(""), STR("Which sorts of volumes the driver has.") },
    { STR("Drivers"), STR(""), STR("How many drivers there are on the node.") },

    /* Devices */
    { STR("State"), STR(""), STR("How far it has come.") },
    { STR("Driver"), STR(""), STR("The driver of the devices.") },
    { STR("Pool"), STR(""), STR("The pool that the devices belong to.") },
    { STR("Key"), STR(""), STR("The key of the taint.") },
    { STR("Effect"), STR(""), STR("What the taint does to pods.") },
    { STR("TimeAdded"), STR(""), STR("How long ago the taint was set.") },

    /* Access and certificates */
    { STR("Role"), STR(""), STR("The role that is given.") },
    { STR("Users"), STR(""), STR("The users that get it.") },
    { STR("Groups"), STR(""), STR("The groups that get it.") },
    { STR("ServiceAccounts"), STR(""), STR("The service accounts that get it.") },
    { STR("Priv"), STR(""), STR("Whether pods may be privileged.") },
    { STR("Caps"), STR(""), STR("The capabilities that pods may add.") },
    { STR("SELinux"), STR(""), STR("Which SELinux labels pods may have.") },
    { STR("RunAsUser"), STR(""), STR("Which users pods may run as.") },
    { STR("FsGroup"), STR(""), STR("Which groups may own the volumes of pods.") },
    { STR("SupGroup"), STR(""), STR("Which further groups pods may be in.") },
    { STR("ReadOnlyRootFs"), STR(""), STR("Whether pods may not write to their root.") },
    { STR("Volumes"), STR(""), STR("The sorts of volumes that pods may use.") },
    { STR("SignerName"), STR(""), STR("Who is to sign, or has signed.") },
    { STR("Requestor"), STR(""), STR("Who asked for the certificate.") },
    { STR("RequestedDuration"), STR(""), STR("How long the certificate is to be good for.") },
    { STR("Condition"), STR(""), STR("Whether it was approved, denied or issued.") },
    { STR("PodName"), STR(""), STR("The pod that the certificate is for.") },
    { STR("ServiceAccountName"), STR(""), STR("The service account of the pod.") },
    { STR("NodeName"), STR(""), STR("The node of the pod.") },
    { STR("UnverifiedUserAnnotations"), STR(""),
      STR("What the user adds; nobody has checked it.") },

    /* The API itself */
    { STR("Scope"), STR(""), STR("Whether its objects are in namespaces.") },
    { STR("Versions"), STR(""), STR("The versions that are served.") },
    { STR("Group"), STR(""), STR("The group of the API.") },
    { STR("Kind"), STR(""), STR("The kind of its objects.") },
    { STR("ShortNames"), STR(""), STR("What else it is called on the command line.") },
    { STR("Established"), STR(""), STR("Whether it is served.") },
    { STR("Service"), STR(""), STR("The service that answers, or this server itself.") },
    { STR("Webhooks"), STR(""), STR("How many webhooks it has.") },
    { STR("Validations"), STR(""), STR("How many rules it has.") },
    { STR("Mutations"), STR(""), STR("How many changes it makes.") },
    { STR("ParamKind"), STR(""), STR("The kind of object that has its parameters.") },
    { STR("PolicyName"), STR(""), STR("The policy that it puts in force.") },
    { STR("ParamRef"), STR(""), STR("The object that has the parameters.") },
    { STR("PriorityLevel"), STR(""), STR("The priority level of the requests.") },
    { STR("MatchingPrecedence"), STR(""), STR("The lowest number is looked at first.") },
    { STR("DistinguisherMethod"), STR(""), STR("What tells one flow of requests from another.") },
    { STR("MissingPL"), STR(""), STR("Whether its priority level does not exist.") },
    { STR("NominalConcurrencyShares"), STR(""), STR("Its share of the requests served at once.") },
    { STR("AssuredConcurrencyShares"), STR(""), STR("Its share of the requests served at once.") },
    { STR("Queues"), STR(""), STR("How many queues it has.") },
    { STR("HandSize"), STR(""), STR("Among how many queues a flow may choose.") },
    { STR("QueueLengthLimit"), STR(""), STR("How many requests may wait in a queue.") },
    { STR("Resource"), STR(""), STR("The resource whose objects are written anew.") },
};

struct str columns_help(struct str kind, struct str column)
{
    struct str text = STR("A column of this resource.");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!str_eq(rows[i].column, column))
            continue;
        if (str_eq(rows[i].kind, kind))
            return rows[i].text;
        if (!rows[i].kind.n)
            text = rows[i].text;
    }
    return text;
}
