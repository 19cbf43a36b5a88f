/* types.h - the API of a sample, as an author writes it. */
// +groupName=samplecrd.k8s.io
// +versionName=v1
#pragma once

#include <sampan/api/meta_v1.h>
#include <sampan/typed.h>

// Network is a range of addresses with a way out.
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:resource:scope=Namespaced,shortName=net
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="CIDR",type=string,JSONPath=`.spec.cidr`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
struct network {
    struct network_spec *spec;
    struct network_status *status;
};

struct network_spec {
    // The addresses, which cannot be changed later.
    // +kubebuilder:validation:Pattern=`^[0-9.]+/[0-9]+$`
    // +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the range stays"
    struct spn_text cidr;
    // The way out. Without one, packets stay inside.
    // +optional
    struct spn_text gateway;
    struct spn_bool nat; // +optional
    // +kubebuilder:validation:Minimum=576
    // +kubebuilder:validation:Maximum=9216
    // +kubebuilder:default=1500
    struct spn_int mtu;
    // +optional
    // +listType=map
    // +listMapKey=destination
    struct network_route_list routes;
};

struct network_route {
    struct spn_text destination;
    struct spn_text via;
    // +kubebuilder:validation:Enum=static;learned
    // +optional
    struct spn_text origin;
};

struct network_status {
    // +optional
    struct spn_int observed_generation;
    // +optional
    // +listType=map
    // +listMapKey=type
    struct meta_v1_condition_list conditions;
};
