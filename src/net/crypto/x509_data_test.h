/* x509_data_test.h - what the tests of certificates share, for keys of P-256: a certificate
 * that may sign others, one it signed, and the request for that one. As PEM, where `nl` is what
 * ends a line, and that once more in base64, as the API carries it. */
#pragma once

#define CA_PEM(nl)                                                        \
    "-----BEGIN CERTIFICATE-----" nl                                      \
    "MIIBfDCCASGgAwIBAgIUXeMqKdkC+gmI65kJ3ser3254qz4wCgYIKoZIzj0EAwIw" nl \
    "EjEQMA4GA1UEAwwHdGVzdC1jYTAgFw0yNjExMTUxNTI1MDRaGA8yMTI2MTAyMjE1" nl \
    "MjUwNFowEjEQMA4GA1UEAwwHdGVzdC1jYTBZMBMGByqGSM49AgEGCCqGSM49AwEH" nl \
    "A0IABFaiB5nXLwM+Ji8erol09LFjyauEM68bQOVdlmVXumZtcHwfvcg71oJUpxgM" nl \
    "5qM6sSrWtAHFW6YVm8BThdRYa/WjUzBRMB0GA1UdDgQWBBQSaF6SpAEB8yotj+M0" nl \
    "K7WgApqxljAfBgNVHSMEGDAWgBQSaF6SpAEB8yotj+M0K7WgApqxljAPBgNVHRMB" nl \
    "Af8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQCPkkRUqC4eRl4xB7L3m3QL21SZ" nl \
    "yD8ZFLq+XO7Qxf5ePAIhAJ+Qic98eMIpkUECR3JZI75ng8dJh5UbpkotMLf/s4dX" nl \
    "-----END CERTIFICATE-----" nl
#define LEAF_PEM(nl)                                                      \
    "-----BEGIN CERTIFICATE-----" nl                                      \
    "MIIBLzCB1gIUeoow2l/tGHCs5P8NiA6hr/dhRUYwCgYIKoZIzj0EAwIwEjEQMA4G" nl \
    "A1UEAwwHdGVzdC1jYTAgFw0yNjExMTUxNTI1MDRaGA8yMTI2MTAyMjE1MjUwNFow" nl \
    "ITEQMA4GA1UECgwHZXhhbXBsZTENMAsGA1UEAwwEbGVhZjBZMBMGByqGSM49AgEG" nl \
    "CCqGSM49AwEHA0IABIySdUFgwK1sk2eGxerLEqLOaBvfYzXhE5I2s4oxZLXak4+J" nl \
    "Plf2jI/RVlHjBq5lksdJzVHekRUgyM3LqIEEzP4wCgYIKoZIzj0EAwIDSAAwRQIg" nl \
    "P3Kl3cXE7Cn8e9ORf0goJs05qrOIKWuU8ku3iKxtxh8CIQCxPy3ajzJ65Kn/2FsP" nl \
    "DyJtMQYUqJYJFDxyDMW/YVYrjQ==" nl "-----END CERTIFICATE-----" nl
#define REQUEST_PEM(nl)                                                   \
    "-----BEGIN CERTIFICATE REQUEST-----" nl                              \
    "MIHcMIGDAgEAMCExEDAOBgNVBAoMB2V4YW1wbGUxDTALBgNVBAMMBGxlYWYwWTAT" nl \
    "BgcqhkjOPQIBBggqhkjOPQMBBwNCAASMknVBYMCtbJNnhsXqyxKizmgb32M14ROS" nl \
    "NrOKMWS12pOPiT5X9oyP0VZR4wauZZLHSc1R3pEVIMjNy6iBBMz+oAAwCgYIKoZI" nl \
    "zj0EAwIDSAAwRQIgDzobH3dnL/GnR3c3RKu86HJr9fQQPfN4YzyqgHdZMD8CIQCb" nl \
    "w2DCfQQDDCYbVInBOuyHhhtQLIoGdpHPBGzHUkiJ+A==" nl "-----END CERTIFICATE REQUEST-----" nl
#define LEAF_64                                                                            \
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJMekNCMWdJVWVvb3cybC90R0hDczVQOE5pQTZoci9k" \
    "aFJVWXdDZ1lJS29aSXpqMEVBd0l3RWpFUU1BNEcKQTFVRUF3d0hkR1Z6ZEMxallUQWdGdzB5TmpFeE1UVXhO" \
    "VEkxTURSYUdBOHlNVEkyTVRBeU1qRTFNalV3TkZvdwpJVEVRTUE0R0ExVUVDZ3dIWlhoaGJYQnNaVEVOTUFz" \
    "R0ExVUVBd3dFYkdWaFpqQlpNQk1HQnlxR1NNNDlBZ0VHCkNDcUdTTTQ5QXdFSEEwSUFCSXlTZFVGZ3dLMXNr" \
    "MmVHeGVyTEVxTE9hQnZmWXpYaEU1STJzNG94WkxYYWs0K0oKUGxmMmpJL1JWbEhqQnE1bGtzZEp6Vkhla1JV" \
    "Z3lNM0xxSUVFelA0d0NnWUlLb1pJemowRUF3SURTQUF3UlFJZwpQM0tsM2NYRTdDbjhlOU9SZjBnb0pzMDVx" \
    "ck9JS1d1VThrdTNpS3h0eGg4Q0lRQ3hQeTNhanpKNjVLbi8yRnNQCkR5SnRNUVlVcUpZSkZEeHlETVcvWVZZ" \
    "cmpRPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
#define REQUEST_64                                                                         \
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIY01JR0RBZ0VBTUNFeEVEQU9CZ05WQkFv" \
    "TUIyVjRZVzF3YkdVeERUQUxCZ05WQkFNTUJHeGxZV1l3V1RBVApCZ2NxaGtqT1BRSUJCZ2dxaGtqT1BRTUJC" \
    "d05DQUFTTWtuVkJZTUN0YkpObmhzWHF5eEtpem1nYjMyTTE0Uk9TCk5yT0tNV1MxMnBPUGlUNVg5b3lQMFZa" \
    "UjR3YXVaWkxIU2MxUjNwRVZJTWpOeTZpQkJNeitvQUF3Q2dZSUtvWkkKemowRUF3SURTQUF3UlFJZ0R6b2JI" \
    "M2RuTC9HblIzYzNSS3U4NkhKcjlmUVFQZk40WXp5cWdIZFpNRDhDSVFDYgp3MkRDZlFRRERDWWJWSW5CT3V5" \
    "SGhodFFMSW9HZHBIUEJHekhVa2lKK0E9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K"
