import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ConfigMapList;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A program on fabric8's kubernetes-client, which watches over WebSocket, against the server that
 * KUBECONFIG names. It ends with 0 only if every expectation holds.
 */
public final class Main {
    private static int passed;
    private static int failed;

    private final KubernetesClient client;
    private final NonNamespaceOperation<ConfigMap, ConfigMapList, Resource<ConfigMap>> maps;
    private final String ns;

    private Main(KubernetesClient client, String ns) {
        this.client = client;
        this.ns = ns;
        this.maps = client.configMaps().inNamespace(ns);
    }

    private static void expect(String what, boolean ok, Object got) {
        if (ok) {
            passed++;
            return;
        }
        failed++;
        System.out.println("FAILED " + what + "\n  got: " + got);
    }

    /** The answer's code and reason, for calls that should be refused. */
    private static String refusal(Runnable call) {
        try {
            call.run();
        } catch (KubernetesClientException e) {
            return e.getCode() + " " + (e.getStatus() == null ? e.getMessage() : e.getStatus().getReason());
        }
        return "no error";
    }

    /** Collects "EVENT name" from a watch or an informer. */
    private static final class Seen<T extends HasMetadata> implements Watcher<T>, ResourceEventHandler<T> {
        private final List<String> events = new ArrayList<>();

        private synchronized void add(String event, String name) {
            events.add(event + " " + name);
        }

        private synchronized List<String> events() {
            return List.copyOf(events);
        }

        @Override
        public void eventReceived(Action action, T object) {
            add(action.name(), object.getMetadata().getName());
        }

        @Override
        public void onClose(WatcherException cause) {
            add("CLOSED", cause.getMessage());
        }

        @Override
        public void onAdd(T object) {
            add("add", object.getMetadata().getName());
        }

        @Override
        public void onUpdate(T before, T object) {
            add("update", object.getMetadata().getName());
        }

        @Override
        public void onDelete(T object, boolean unknown) {
            add("delete", object.getMetadata().getName());
        }

        /** Waits until the events are the given ones; the time only guards against hanging. */
        void want(String what, String... wanted) throws InterruptedException {
            for (int i = 0; i < 2000 && !events().equals(List.of(wanted)); i++) {
                Thread.sleep(10);
            }
            expect(what, events().equals(List.of(wanted)), events());
        }
    }

    private static ConfigMap configMap(String name, String tier) {
        return new ConfigMapBuilder().withNewMetadata().withName(name).addToLabels("app", "clients")
            .addToLabels("tier", tier).endMetadata().addToData("n", "1").build();
    }

    private static ConfigMap with(ConfigMap map, String n) {
        return new ConfigMapBuilder(map).addToData("n", n).build();
    }

    private void life() throws InterruptedException {
        ConfigMapList before = maps.withLabel("app", "clients").list();
        expect("the list is empty", before.getItems().isEmpty(), before);
        Seen<ConfigMap> seen = new Seen<>();
        Watch watch = maps.withLabel("app", "clients")
            .watch(new ListOptionsBuilder().withResourceVersion(before.getMetadata().getResourceVersion()).build(), seen);

        ConfigMap made = maps.resource(configMap("one", "none")).create();
        expect("uid, revision and time are set", made.getMetadata().getUid() != null
            && made.getMetadata().getResourceVersion() != null
            && made.getMetadata().getCreationTimestamp() != null, made);
        seen.want("ADDED", "ADDED one");
        String said = refusal(() -> maps.resource(configMap("one", "none")).create());
        expect("a second one is refused", said.equals("409 AlreadyExists"), said);
        said = refusal(() -> maps.resource(configMap("Not A Name", "none")).create());
        expect("a bad name is refused", said.equals("422 Invalid"), said);

        ConfigMap got = maps.withName("one").get();
        expect("get gives what was created", got.getData().equals(Map.of("n", "1"))
            && got.getMetadata().getUid().equals(made.getMetadata().getUid()), got);
        ConfigMap updated = maps.resource(with(got, "2")).update();
        expect("the revision changed",
            !updated.getMetadata().getResourceVersion().equals(made.getMetadata().getResourceVersion()), updated);
        seen.want("MODIFIED", "ADDED one", "MODIFIED one");

        said = refusal(() -> maps.resource(with(made, "3")).update());
        expect("a stale update is a conflict", said.equals("409 Conflict"), said);
        ConfigMap retried = maps.resource(with(maps.withName("one").get(), "3")).update();
        expect("the retry with the new revision succeeds", retried.getData().get("n").equals("3"), retried);

        expect("one was deleted", maps.withName("one").delete().size() == 1, null);
        seen.want("DELETED", "ADDED one", "MODIFIED one", "MODIFIED one", "DELETED one");
        expect("it is gone", maps.withName("one").get() == null, null);
        watch.close();
    }

    private void pages() {
        List<String> all = IntStream.range(0, 25).mapToObj(i -> String.format("page-%02d", i)).toList();
        for (String name : all) {
            maps.resource(configMap(name, all.indexOf(name) % 2 == 1 ? "odd" : "even")).create();
        }
        List<Integer> sizes = new ArrayList<>();
        List<String> names = new ArrayList<>();
        String token = null;
        do {
            ConfigMapList page = maps.withLabel("app", "clients")
                .list(new ListOptionsBuilder().withLimit(10L).withContinue(token).build());
            sizes.add(page.getItems().size());
            page.getItems().forEach(item -> names.add(item.getMetadata().getName()));
            token = page.getMetadata().getContinue();
        } while (token != null && !token.isEmpty());
        expect("three pages", sizes.equals(List.of(10, 10, 5)), sizes);
        expect("every name once and in order", names.equals(all), names);

        int odd = maps.withLabelIn("tier", "odd").list().getItems().size();
        expect("the odd ones", odd == 12, odd);
        List<ConfigMap> byName = maps.withField("metadata.name", "page-07").list().getItems();
        expect("one by its name", byName.size() == 1, byName);

        maps.withLabel("tier", "odd").delete();
        int rest = maps.withLabel("app", "clients").list().getItems().size();
        expect("the even ones stay", rest == 13, rest);
        maps.withLabel("app", "clients").delete();
    }

    private void informer() throws InterruptedException {
        maps.resource(configMap("before", "none")).create();
        Seen<ConfigMap> seen = new Seen<>();
        try (SharedIndexInformer<ConfigMap> shared = maps.withLabel("app", "clients").inform(seen)) {
            seen.want("the informer lists", "add before");
            ConfigMap made = maps.resource(configMap("after", "none")).create();
            seen.want("the informer watches", "add before", "add after");
            maps.resource(new ConfigMapBuilder(made).editMetadata().removeFromLabels("app").endMetadata().build())
                .update();
            seen.want("what left the selection", "add before", "add after", "delete after");
            expect("the cache holds one", shared.getStore().list().size() == 1, shared.getStore().list());
        }
    }

    private void workloads() {
        Resource<Deployment> web = client.apps().deployments().inNamespace(ns).resource(new DeploymentBuilder()
            .withNewMetadata().withName("web").endMetadata()
            .withNewSpec().withReplicas(2).withNewSelector().addToMatchLabels("app", "web").endSelector()
            .withNewTemplate().withNewMetadata().addToLabels("app", "web").endMetadata()
            .withNewSpec().addNewContainer().withName("web").withImage("nginx:1.27").endContainer().endSpec()
            .endTemplate().endSpec().build());
        Deployment made = web.create();
        expect("a deployment of generation 1", made.getMetadata().getGeneration() == 1, made);
        Deployment status = client.apps().deployments().inNamespace(ns).resource(new DeploymentBuilder(made)
            .withNewStatus().withReplicas(2).endStatus().build()).updateStatus();
        expect("its status changes alone", status.getStatus().getReplicas() == 2
            && status.getMetadata().getGeneration() == 1, status);
        web.delete();

        var secrets = client.genericKubernetesResources("v1", "Secret").inNamespace(ns);
        secrets.load(new ByteArrayInputStream("""
            apiVersion: v1
            kind: Secret
            type: Opaque
            metadata: {name: s}
            data: {key: dmFsdWU=}
            """.getBytes(StandardCharsets.UTF_8))).create();
        Map<?, ?> data = (Map<?, ?>) secrets.withName("s").get().getAdditionalProperties().get("data");
        expect("a kind found by discovery", data.get("key").equals("dmFsdWU="), data);
    }

    private static void run(KubernetesClient client) throws InterruptedException {
        expect("the version", client.getKubernetesVersion().getMajor().equals("1"), null);
        List<String> spaces = client.namespaces().list().getItems().stream()
            .map(item -> item.getMetadata().getName()).collect(Collectors.toList());
        expect("the namespaces of every cluster",
            spaces.containsAll(List.of("default", "kube-node-lease", "kube-public", "kube-system")), spaces);
        Namespace made = client.namespaces().resource(new NamespaceBuilder().withNewMetadata()
            .withGenerateName("clients-java-").endMetadata().build()).create();
        String ns = made.getMetadata().getName();
        expect("a generated name", ns.matches("clients-java-.{5}"), ns);
        Main main = new Main(client, ns);
        main.life();
        main.pages();
        main.informer();
        main.workloads();
        expect("the namespace ends", client.namespaces().withName(ns).delete().size() == 1, null);
    }

    public static void main(String[] args) throws InterruptedException {
        try (KubernetesClient client = new KubernetesClientBuilder().build()) {
            run(client);
        } catch (KubernetesClientException e) {
            expect("no call throws", false, e + ", caused by " + e.getCause());
        }
        System.out.println(failed == 0 ? passed + " checks passed"
            : passed + " checks passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }
}
