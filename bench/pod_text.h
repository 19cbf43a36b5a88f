/* pod_text.h - most of a Pod of about 4 KB, as a server writes it: what the benches of codecs read.
 * Each puts metadata of its own before it. */
#pragma once

/* From "spec" to the end. */
#define POD_TEXT_SPEC                                                                              \
    "\"spec\":{\"volumes\":[{\"name\":\"config\",\"configMap\":{\"name\":\"orders-config\","       \
    "\"defaultMode\":420}},{\"name\":\"cache\",\"emptyDir\":{\"sizeLimit\":\"256Mi\"}}],"          \
    "\"containers\":[{\"name\":\"server\",\"image\":\"registry.example/shop/orders:1.42.0\","      \
    "\"args\":[\"--listen=0.0.0.0:8080\",\"--log-level=info\",\"--cache-dir=/var/cache/orders\"]," \
    "\"ports\":[{\"name\":\"http\",\"containerPort\":8080,\"protocol\":\"TCP\"},{\"name\":"        \
    "\"metrics\",\"containerPort\":9090,\"protocol\":\"TCP\"}],\"env\":[{\"name\":"                \
    "\"DATABASE_HOST\",\"value\":\"orders-db.shop.svc\"},{\"name\":\"DATABASE_PASSWORD\","         \
    "\"valueFrom\":{\"secretKeyRef\":{\"name\":\"orders-db\",\"key\":\"password\"}}},{\"name\":"   \
    "\"POD_IP\",\"valueFrom\":{\"fieldRef\":{\"apiVersion\":\"v1\",\"fieldPath\":"                 \
    "\"status.podIP\"}}}],\"resources\":{\"limits\":{\"cpu\":\"2\",\"memory\":\"1Gi\"},"           \
    "\"requests\":{\"cpu\":\"250m\",\"memory\":\"512Mi\"}},\"volumeMounts\":[{\"name\":"           \
    "\"config\",\"readOnly\":true,\"mountPath\":\"/etc/orders\"},{\"name\":\"cache\","             \
    "\"mountPath\":\"/var/cache/orders\"}],\"livenessProbe\":{\"httpGet\":{\"path\":\"/livez\","   \
    "\"port\":8080,\"scheme\":\"HTTP\"},\"initialDelaySeconds\":10,\"timeoutSeconds\":1,"          \
    "\"periodSeconds\":10,\"successThreshold\":1,\"failureThreshold\":3},\"readinessProbe\":{"     \
    "\"httpGet\":{\"path\":\"/readyz\",\"port\":8080,\"scheme\":\"HTTP\"},\"timeoutSeconds\":1,"   \
    "\"periodSeconds\":5,\"successThreshold\":1,\"failureThreshold\":3},"                          \
    "\"terminationMessagePath\":\"/dev/termination-log\",\"imagePullPolicy\":\"IfNotPresent\","    \
    "\"securityContext\":{\"runAsUser\":1000,\"runAsNonRoot\":true,\"readOnlyRootFilesystem\":"    \
    "true,\"allowPrivilegeEscalation\":false}}],\"restartPolicy\":\"Always\","                     \
    "\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":\"ClusterFirst\",\"serviceAccountName\":"  \
    "\"orders\",\"nodeName\":\"node-17\",\"securityContext\":{\"fsGroup\":2000},\"tolerations\":"  \
    "[{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":"               \
    "\"NoExecute\",\"tolerationSeconds\":300}],\"priority\":0,\"enableServiceLinks\":true},"

#define POD_TEXT_STATUS                                                                          \
    "\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"," \
    "\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-03-01T08:15:57Z\"},{\"type\":"         \
    "\"PodScheduled\",\"status\":\"True\",\"lastProbeTime\":null,\"lastTransitionTime\":"        \
    "\"2026-03-01T08:15:42Z\"}],\"hostIP\":\"10.20.0.17\",\"podIP\":\"10.42.3.91\",\"podIPs\":[" \
    "{\"ip\":\"10.42.3.91\"}],\"startTime\":\"2026-03-01T08:15:42Z\",\"containerStatuses\":[{"   \
    "\"name\":\"server\",\"state\":{\"running\":{\"startedAt\":\"2026-03-01T08:15:44Z\"}},"      \
    "\"lastState\":{},\"ready\":true,\"restartCount\":0,\"image\":"                              \
    "\"registry.example/shop/orders:1.42.0\",\"imageID\":\"registry.example/shop/orders@sha256:" \
    "3f1c9c5d3b7e5b0f6c1e8f1d4c589a570f1c9c5d3b7ec1a7f2de4d5546ff8b4b\",\"containerID\":"        \
    "\"containerd://8b4b5a3f3f1e0d115b0f6c1e8f1d4c589a570f1c9c5d3b7ec1a7f2de4d5546ff\","         \
    "\"started\":true}],\"qosClass\":\"Burstable\"}}"
