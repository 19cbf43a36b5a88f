package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
)

var passed, failed int

func expect(what string, ok bool, got ...any) {
	if ok {
		passed++
		return
	}
	failed++
	fmt.Println("FAILED", what)
	if len(got) > 0 {
		fmt.Println("  got:", fmt.Sprint(got...))
	}
}

// must ends the program: what follows would only fail for the same reason.
func must(what string, err error) {
	if err != nil {
		fmt.Printf("FAILED %s: %v\n", what, err)
		os.Exit(1)
	}
	passed++
}

func report() {
	if failed > 0 {
		fmt.Printf("%d checks passed, %d failed\n", passed, failed)
		os.Exit(1)
	}
	fmt.Printf("%d checks passed\n", passed)
}

// seen collects what a watch or an informer reports.
type seen struct {
	mu     sync.Mutex
	events []string
}

func (s *seen) add(event, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, event+" "+name)
}

// nameOf names the object of an event; in an ERROR event that is a Status, which is shown whole.
func nameOf(object runtime.Object) string {
	if accessor, err := meta.Accessor(object); err == nil {
		return accessor.GetName()
	}
	return fmt.Sprint(object)
}

func (s *seen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.events, ", ")
}

// want waits until the events so far are the given ones. The time is a guard against hanging.
func (s *seen) want(what string, events ...string) {
	wanted := strings.Join(events, ", ")
	for end := time.Now().Add(20 * time.Second); s.String() != wanted && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	expect(what, s.String() == wanted, s)
}

// wire notes what went over the connection, to prove which encoding and which kind of watch was used.
type wire struct {
	next http.RoundTripper
	log  *[]string
	mu   *sync.Mutex
}

func (w wire) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(req)
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		*w.log = append(*w.log, fmt.Sprint(req.Method, " ", req.URL, " sent ", req.Header.Get("Content-Type"),
			" got ", resp.StatusCode, " ", resp.Header.Get("Content-Type")))
	}
	return resp, err
}

// recorder returns a wrapper for rest.Config and a count of the exchanges that hold all the parts.
func recorder() (func(http.RoundTripper) http.RoundTripper, func(parts ...string) int) {
	log, mu := &[]string{}, &sync.Mutex{}
	wrap := func(next http.RoundTripper) http.RoundTripper { return wire{next, log, mu} }
	count := func(parts ...string) int {
		mu.Lock()
		defer mu.Unlock()
		n := 0
		for _, line := range *log {
			all := true
			for _, part := range parts {
				all = all && strings.Contains(line, part)
			}
			if all {
				n++
			}
		}
		return n
	}
	return wrap, count
}
