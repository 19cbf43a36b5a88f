/* Each sort of field in protobuf: its bytes, letter by letter, and the same object back from them.
 */
#include "api/codec/proto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/suite_json.h"
#include "api/typed.h"
#include "base/idiom.h"

struct row {
    const char *api_version, *type;
    const char *json; /* with ' for " */
    const char *hex;  /* of the message */
};

static const struct kind_type *type_of(const struct row *row)
{
    struct str version = str_of(row->api_version), group = STR("");
    if (str_find(version, '/') >= 0)
        group = str_cut(&version, '/');
    const struct kind_type *t = kind_type_find(group, version, str_of(row->type));
    if (!t)
        fail_msg("there is no %s %s", row->api_version, row->type);
    return t;
}

static struct value typed(struct arena *a, const struct kind_type *t, const struct value *in)
{
    struct value v;
    struct err err = ERR_INIT(a);
    if (typed_read(a, t, in, NULL, &v, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return v;
}

static void check_bytes(const struct row *row, struct str bytes)
{
    autobuf hex = { 0 };
    for (size_t i = 0; i < bytes.n; i++)
        buf_printf(&hex, "%02x", (unsigned char)bytes.p[i]);
    if (!str_eq(buf_str(&hex), str_of(row->hex)))
        fail_msg("%s %s\nwant %s\ngot  " STR_FMT, row->type, row->json, row->hex,
                 STR_ARG(buf_str(&hex)));
}

static void check_row(struct arena *a, const struct row *row)
{
    const struct kind_type *t = type_of(row);
    struct value in = suite_json(a, row->json), obj = typed(a, t, &in), back;
    struct err err = ERR_INIT(a);
    autobuf bytes = { 0 };
    proto_write(&bytes, t, &obj);
    check_bytes(row, buf_str(&bytes));
    if (proto_read(a, t, buf_str(&bytes), str_of(row->api_version), str_of(row->type), &back,
                   &err) < 0)
        fail_msg("%s: " STR_FMT, row->json, STR_ARG(err.msg));
    back = typed(a, t, &back);
    if (!value_get(&obj, STR("kind"))) { /* which an envelope says */
        value_drop(a, &back, STR("kind"));
        value_drop(a, &back, STR("apiVersion"));
    }
    suite_json_same(&back, &obj, row->json);
}

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct arena a;
        arena_init(&a);
        check_row(&a, &rows[i]);
        arena_done(&a);
    }
}

static void scalars(void **state)
{
    (void)state;
    static const struct row rows[] = {
        /* A plain field is there when it is zero, an optional one when it is set. */
        { "v1", "SecretKeySelector", "{'name':'n','key':'k'}", "0a030a016e12016b" },
        { "v1", "SecretKeySelector", "{'name':'n','key':'k','optional':false}",
          "0a030a016e12016b1800" },
        { "v1", "Toleration", "{'key':'a','tolerationSeconds':-1}",
          "0a016112001a00220028ffffffffffffffffff01" },
        { "v1", "KeyToPath", "{'key':'k','path':'p','mode':420}", "0a016b12017018a403" },
        { "v1", "Capabilities", "{'add':['A','BC'],'drop':[]}", "0a01410a024243" },
        { "v1", "PodSecurityContext", "{'supplementalGroups':[1,300]}", "200120ac02" },
        { "v1", "SecretReference", "{'name':'\\u00e4'}", "0a02c3a41200" },
    };
    check_rows(rows, ARRAY_LEN(rows));
}

static void amounts_and_times(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "v1", "ResourceRequirements", "{'limits':{'cpu':'1','memory':'1Gi'}}",
          "0a0a0a0363707512030a01310a0f0a066d656d6f727912050a03314769" },
        { "v1", "EmptyDirVolumeSource", "{'sizeLimit':'5M'}", "0a0012040a02354d" },
        { "v1", "ContainerStateRunning", "{'startedAt':'2020-01-02T03:04:05Z'}",
          "0a0808a5bbb5f0051000" },
        { "v1", "ContainerStateRunning", "{'startedAt':null}", "0a00" },
        { "coordination.k8s.io/v1", "LeaseSpec", "{'renewTime':'2020-01-02T03:04:05.000006Z'}",
          "220908a5bbb5f00510f02e" },
        { "v1", "ServicePort", "{'port':80,'targetPort':8080}",
          "0a00120018502207080010903f1a002800" },
        { "v1", "ServicePort", "{'port':80,'targetPort':'web'}",
          "0a00120018502209080110001a037765622800" },
    };
    check_rows(rows, ARRAY_LEN(rows));
}

static void bytes_and_trees(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "v1", "Secret", "{'data':{'a':'AAEC','b':''}}",
          "0a100a0012001a0022002a0032003800420012080a0161120300010212050a016212001a00" },
        { "certificates.k8s.io/v1", "CertificateSigningRequestStatus", "{'certificate':'AAEC'}",
          "1203000102" },
        { "apps/v1", "ControllerRevision", "{'data':{'a':[1,'x']},'revision':3}",
          "0a100a0012001a0022002a00320038004200120f0a0d7b2261223a5b312c2278225d7d1803" },
        { "apiextensions.k8s.io/v1", "JSONSchemaProps",
          "{'type':'number','minimum':1.5,'maxLength':3,'enum':[1,'a',null],'default':{'a':1}}",
          "0a00120022002a066e756d62657232003a0042090a077b2261223a317d500059000000000000f83f60006803"
          "7a00900100a201030a0131a201050a03226122a20100a80200b80200c00200" },
        { "apiextensions.k8s.io/v1", "JSONSchemaProps",
          "{'items':{'type':'string'},'additionalProperties':false,'properties':{'b':{'type':'"
          "integer'},'a':{'x-kubernetes-preserve-unknown-fields':true}}}",
          "0a00120022002a0032003a00500060007a00900100c201260a240a00120022002a06737472696e6732003a00"
          "500060007a00900100a80200b80200c00200ea01260a016112210a00120022002a0032003a00500060007a00"
          "900100a80200b00201b80200c00200ea012a0a016212250a00120022002a07696e746567657232003a005000"
          "60007a00900100a80200b80200c00200f201020800a80200b80200c00200" },
    };
    check_rows(rows, ARRAY_LEN(rows));
}

static void metadata(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "meta/v1", "OwnerReference",
          "{'apiVersion':'v1','kind':'Pod','name':'p','uid':'u','controller':true}",
          "0a03506f641a01702201752a0276313001" },
        { "meta/v1", "ManagedFieldsEntry",
          "{'manager':'m','operation':'Apply','fieldsType':'FieldsV1','fieldsV1':{'f:spec':{}}}",
          "0a016d12054170706c791a0032084669656c647356313a0f0a0d7b22663a73706563223a7b7d7d4200" },
        { "meta/v1", "LabelSelector",
          "{'matchLabels':{'b':'2','a':'1'},'matchExpressions':[{'key':'k','operator':'In','values'"
          ":['v']}]}",
          "0a060a01611201310a060a0162120132120a0a016b1202496e1a0176" },
    };
    check_rows(rows, ARRAY_LEN(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars),
        cmocka_unit_test(amounts_and_times),
        cmocka_unit_test(bytes_and_trees),
        cmocka_unit_test(metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
