/* limits.h - every size, count and time that an outsider can push against, in one place.
 *
 * Each constant has a test that goes past it. Where Kubernetes has a value, it is the same. */
#pragma once

/* Documents */
#define LIMIT_BODY_BYTES       (3u << 20) /* request body; past it 413 */
#define LIMIT_JSON_DEPTH       10000u     /* nested arrays and objects */
#define LIMIT_YAML_DEPTH       1000u
#define LIMIT_YAML_ALIAS_FREE  100u        /* aliased nodes below which no ratio is checked */
#define LIMIT_YAML_NODES_FREE  1000u       /* nodes below which no ratio is checked */
#define LIMIT_YAML_ALIAS_BYTES (16u << 20) /* text that aliases repeat */
#define LIMIT_YAML_TAG_LINES   100u        /* %TAG directives */
#define LIMIT_YAML_FLOW_WORK   (64u << 20) /* depth of [ and {, summed over all nodes */

/* HTTP */
#define LIMIT_HEADER_BYTES       (1u << 20) /* decoded header list, names and values and overhead */
#define LIMIT_HEADER_COUNT       1000u
#define LIMIT_PROXY_BYTES        (64u << 10) /* what a proxy says before a connection is ours */
#define LIMIT_REQUEST_LINE_BYTES (64u << 10)
#define LIMIT_CONNECTIONS        20000u /* open connections of one server */
#define LIMIT_HANDSHAKES         1000u  /* connections that have not finished TLS */
#define LIMIT_HANDSHAKE_MS       10000u
#define LIMIT_READ_HEADER_MS     32000u
#define LIMIT_IDLE_MS            90000u
#define LIMIT_BODY_MS            30000u /* from the head of a request to the end of its body */
#define LIMIT_REQUEST_MS         60000u /* to the end of the answer, watches excepted; as upstream */
#define LIMIT_HALF_CLOSED_MS     2000u  /* for the answer, after the client has closed its side */
#define LIMIT_WRITE_STALL_MS     30000u /* a client that reads nothing for so long is cut off */
#define LIMIT_WRITE_STALL_BYTES  4096u  /* less than this read in that time counts as nothing */
#define LIMIT_WRITE_CROWD_MS     2000u  /* the same, while the memory for replies is full */
#define LIMIT_DRAIN_MS           10000u /* graceful stop, then connections are cut */
#define LIMIT_STOP_MS            5000u  /* for workers to end after that; then the process exits */
#define LIMIT_COLLECTED_BYTES    (64u << 20) /* of all bodies being collected, half by one client */
#define LIMIT_PIPELINE           16u /* HTTP/1.1 requests served in a row before others' turn */
#define LIMIT_WRITE_BUFFER_BYTES (256u << 10) /* unsent response bytes of one exchange */
#define LIMIT_REPLY_BYTES        (8u << 20)   /* unsent, of a connection; past it requests wait */
#define LIMIT_REPLY_BYTES_ALL    (64u << 20)  /* of all; past it all wait, slow ones are cut */
#define LIMIT_REQUEST_MEMORY     (224u << 20) /* of one request: 413; of one client: 429 */
#define LIMIT_REQUEST_MEMORY_ALL (240u << 20) /* of all requests; past it 429 */

/* HTTP/2 */
#define LIMIT_H2_STREAMS        100u
#define LIMIT_H2_WINDOW_BYTES   (256u << 10)
#define LIMIT_H2_FRAME_BYTES    (64u << 10)
#define LIMIT_H2_CONTINUATIONS  8u    /* CONTINUATION frames of one header block */
#define LIMIT_H2_SETTINGS       32u   /* entries of one SETTINGS frame */
#define LIMIT_H2_RESETS         500u  /* resets, of either side, regained at the rate below */
#define LIMIT_H2_RESETS_PER_SEC 100u  /* informers that stop reset a watch each */
#define LIMIT_H2_CONTROL_FRAMES 1000u /* PING, SETTINGS, PRIORITY, WINDOW_UPDATE in one second */
#define LIMIT_H2_ACK_QUEUE      256u  /* control replies that the peer has not read */

/* Nodes */
#define LIMIT_LOG_LINE_BYTES  (1u << 20) /* of a log without a newline; runtimes cut at 16 KiB */
#define LIMIT_METRICS_SAMPLES 20000u     /* that one node may tell */

/* WebSocket and gRPC */
#define LIMIT_WS_MESSAGE_BYTES   (32u << 20)
#define LIMIT_WS_CLOSE_MS        5000u /* for the peer's close frame after ours */
#define LIMIT_GRPC_MESSAGE_BYTES (16u << 20)

/* etcd's API: what one call is answered, by a range and by a transaction */
#define LIMIT_ETCD_RANGE_BYTES (256u << 20)
#define LIMIT_ETCD_TXN_BYTES   (64u << 20)

/* TLS */
#define LIMIT_TLS_CHAIN 10u /* certificates of a chain, sent or built */

/* Selectors */
#define LIMIT_SELECTOR_REQUIREMENTS 1000u  /* of a label selector; terms of a field selector */
#define LIMIT_SELECTOR_VALUES       10000u /* over all requirements of a label selector */

/* Regular expressions */
#define LIMIT_REGEXP_DEPTH  1000u   /* groups inside groups; as Go */
#define LIMIT_REGEXP_REPEAT 1000u   /* nested counts multiplied; as Go */
#define LIMIT_REGEXP_INSTS  100000u /* instructions of a program; bounds the work per character */

/* Patches */
#define LIMIT_PATCH_OPERATIONS 10000u     /* of a JSON patch; past it 413 */
#define LIMIT_PATCH_COPY_BYTES (3u << 20) /* that the `copy` operations of one patch repeat */
#define LIMIT_PATCH_DEPTH      100u  /* objects that a strategic patch merges into each other */
#define LIMIT_FIELD_DEPTH      100u  /* steps of a field path in managedFields */
#define LIMIT_FIELD_MANAGERS   1000u /* entries of managedFields that are read */

/* Store */
#define LIMIT_STORE_KEY_BYTES    480u
#define LIMIT_STORE_VALUE_BYTES  (8u << 20)
#define LIMIT_STORE_TXN_OPS      128u
#define LIMIT_STORE_REV_OPS      4096u /* of a revision that somebody else has made, in one piece */
#define LIMIT_STORE_TXN_BYTES    (16u << 20)
#define LIMIT_STORE_DAMAGED_KEYS 1000u /* remembered by name; more are not counted */
#define LIMIT_LIST_DAMAGED       100u  /* named by a list that fails because of them; as upstream */
#define LIMIT_BACKUP_WARNINGS    100u  /* damaged objects that a backup names in its headers */

#define LIMIT_BACKUPS 4u /* at the same time; each needs a copy on disk; past it 429 */

/* Services: the ports and addresses of one are written in one transaction */
#define LIMIT_SERVICE_NODE_PORTS 120u
#define LIMIT_SERVICE_CLAIMS     (LIMIT_STORE_TXN_OPS - 2) /* taken or given back at once */

/* Admission */
#define LIMIT_TOLERATIONS_MERGED 1000u /* of a pod, compared with each other */

/* Validation */
#define LIMIT_FIELD_ERRORS      1000u      /* faults of one object that are reported */
#define LIMIT_FIELD_ERROR_BYTES (1u << 20) /* of their texts; the last one may go past it */
#define LIMIT_ANNOTATION_BYTES  (256u << 10)
#define LIMIT_SCHEMA_DEPTH      100u  /* schemas inside schemas, of a CustomResourceDefinition */
#define LIMIT_DIFF_LINES        2000u /* of a text whose changes a fault shows; past it none */
#define LIMIT_TYPED_DEPTH       1000u /* values inside values that a typed struct is made of */

/* JSONPath */
#define LIMIT_JSONPATH_DEPTH 10u /* brackets inside brackets, ranges inside ranges */

/* Tables of custom kinds: for all cells of one row; past it they are empty */
#define LIMIT_TABLE_ROW_VALUES 50000u     /* looked at to find what they show */
#define LIMIT_TABLE_ROW_BYTES  (4u << 20) /* of text */

/* Conversion of custom objects by webhooks */
#define LIMIT_CONVERSION_MS      30000u      /* of one call */
#define LIMIT_CONVERSION_BYTES   (32u << 20) /* of its answer */
#define LIMIT_CONVERSION_OBJECTS 500u        /* that a list or a watch sends in one call */
#define LIMIT_CONVERSION_SENT    (1u << 20)  /* bytes of those; the last one may go past it */

/* Auditing */
#define LIMIT_AUDIT_OBJECT_BYTES (16u << 20) /* of an answer that its event shows; past it none */
#define LIMIT_AUDIT_QUEUE_BYTES  (64u << 20) /* that wait for a back end; past it dropped */
#define LIMIT_AUDIT_BATCH_BYTES  (10u << 20) /* of one delivery; the last event may go past it */
#define LIMIT_AUDIT_STOP_MS      3000u       /* for a back end to take what is left at the end */

/* Expressions */
#define LIMIT_CEL_CODE_POINTS 100000u     /* of one expression */
#define LIMIT_CEL_NODES       (1u << 20)  /* of its tree, macros expanded */
#define LIMIT_CEL_TEXT_BYTES  (16u << 20) /* that one function may make */
#define LIMIT_CEL_EVAL_BYTES  (64u << 20) /* of memory that one evaluation may take */
#define LIMIT_CEL_EVAL_STEPS  (8u << 20)  /* items, fields and pieces of text that it looks at */
#define LIMIT_CEL_VALUE_DEPTH 1000u       /* values inside values that are compared or printed */

/* Priority and fairness */
#define LIMIT_FLOW_QUEUES  8192u /* of one priority level; more that it asks for are not made */
#define LIMIT_FLOW_SCHEMAS 256u  /* of one priority level that are counted each for itself */

/* Node agent: files of the machine and of containers that it reads */
#define LIMIT_RESOLV_CONF_BYTES (10u << 20) /* as upstream */
#define LIMIT_HOSTS_BYTES       (1u << 20)  /* of /etc/hosts */
#define LIMIT_ENV_FILE_BYTES    (64u << 10) /* of a file with variables (fileKeyRef) */
#define LIMIT_MOUNT_BYTES       (16u << 20) /* of /proc/self/mountinfo */
#define LIMIT_VOLUME_FILE_BYTES (3u << 20)  /* of a file that a volume shows of an object */
#define LIMIT_VOLUME_DEPTH      256u        /* folders inside folders whose owner is changed */
