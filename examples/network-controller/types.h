/* types.h - the API of networks, as an author writes it. `sampan generate` makes of it crd.yaml,
 * which is kept beside, and gen_network.[ch], which is made by each build. */
// +groupName=samplecrd.k8s.io
// +versionName=v1
#pragma once

#include <sampan/api/meta_v1.h>
#include <sampan/typed.h>

// Network is a range of addresses on a machine, with a bridge that pods are attached to.
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:resource:scope=Namespaced,shortName=net
// +kubebuilder:subresource:status
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved, only an example"
// +kubebuilder:printcolumn:name="CIDR",type=string,JSONPath=`.spec.cidr`
// +kubebuilder:printcolumn:name="Gateway",type=string,JSONPath=`.spec.gateway`
// +kubebuilder:printcolumn:name="Bridge",type=string,JSONPath=`.status.bridge`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
struct network {
    struct network_spec *spec;
    // +optional
    struct network_status *status;
};

struct network_spec {
    // The range of addresses, such as "192.168.0.0/16".
    // +kubebuilder:validation:MaxLength=64
    struct spn_text cidr;
    // The address of the bridge in that range.
    // +kubebuilder:validation:MaxLength=64
    struct spn_text gateway;
    // The largest packet in bytes; 1500 if it is not said.
    // +kubebuilder:validation:Minimum=68
    // +kubebuilder:validation:Maximum=65535
    // +optional
    struct spn_int mtu;
    // Whether packets that leave the network get the machine's own address.
    // +optional
    struct spn_bool nat;
};

// What was made of it.
struct network_status {
    // +optional
    struct spn_text bridge;
    // +optional
    struct spn_text cidr;
    // +optional
    struct spn_text gateway;
    // +optional
    struct spn_int observed_generation;
    // +optional
    // +listType=map
    // +listMapKey=type
    struct meta_v1_condition_list conditions;
};
