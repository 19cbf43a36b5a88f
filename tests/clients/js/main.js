// A program on @kubernetes/client-node against the server that KUBECONFIG names. It ends with 0 only
// if every expectation holds.
import * as k8s from '@kubernetes/client-node';

let passed = 0;
let failed = 0;

function expect(what, ok, got) {
  if (ok) {
    passed++;
    return;
  }
  failed++;
  console.log('FAILED', what, got === undefined ? '' : '\n  got: ' + JSON.stringify(got));
}

// The answer's code and reason, for calls that should be refused.
async function refusal(call) {
  try {
    await call;
  } catch (e) {
    const status = typeof e.body === 'string' ? JSON.parse(e.body) : e.body;
    return `${e.code} ${status?.reason}`;
  }
  return 'no error';
}

// Collects "EVENT name"; want() waits until they are the given ones. The time only guards against
// hanging.
class Seen {
  events = [];
  add(event, name) {
    this.events.push(`${event} ${name}`);
  }
  async want(what, ...events) {
    const wanted = events.join(', ');
    for (let i = 0; i < 2000 && this.events.join(', ') !== wanted; i++) {
      await new Promise((done) => setTimeout(done, 10));
    }
    expect(what, this.events.join(', ') === wanted, this.events);
  }
}

const labelSelector = 'app=clients';
const configMap = (name, tier) => ({
  metadata: { name, labels: { app: 'clients', tier } },
  data: { n: '1' },
});
const pageName = (i) => `page-${String(i).padStart(2, '0')}`;

const config = new k8s.KubeConfig();
config.loadFromFile(process.env.KUBECONFIG);
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);

async function life(namespace) {
  const before = await core.listNamespacedConfigMap({ namespace, labelSelector });
  expect('the list is empty', before.items.length === 0, before.items);

  const seen = new Seen();
  const watch = await new k8s.Watch(config).watch(
    `/api/v1/namespaces/${namespace}/configmaps`,
    { labelSelector, resourceVersion: before.metadata.resourceVersion },
    (type, object) => seen.add(type, object.metadata.name),
    () => {},
  );

  const made = await core.createNamespacedConfigMap({ namespace, body: configMap('one', 'none') });
  expect('uid, revision and time are set',
    made.metadata.uid && made.metadata.resourceVersion && made.metadata.creationTimestamp instanceof Date, made);
  await seen.want('ADDED', 'ADDED one');
  expect('a second one is refused',
    await refusal(core.createNamespacedConfigMap({ namespace, body: configMap('one', 'none') })) ===
      '409 AlreadyExists');
  expect('a bad name is refused',
    await refusal(core.createNamespacedConfigMap({ namespace, body: configMap('Not A Name', 'none') })) ===
      '422 Invalid');

  const got = await core.readNamespacedConfigMap({ name: 'one', namespace });
  expect('get gives what was created', got.metadata.uid === made.metadata.uid && got.data.n === '1', got);
  got.data.n = '2';
  const updated = await core.replaceNamespacedConfigMap({ name: 'one', namespace, body: got });
  expect('the revision changed', updated.metadata.resourceVersion !== made.metadata.resourceVersion);
  await seen.want('MODIFIED', 'ADDED one', 'MODIFIED one');

  made.data.n = '3';
  expect('a stale update is a conflict',
    await refusal(core.replaceNamespacedConfigMap({ name: 'one', namespace, body: made })) === '409 Conflict');
  made.metadata.resourceVersion = updated.metadata.resourceVersion;
  const retried = await core.replaceNamespacedConfigMap({ name: 'one', namespace, body: made });
  expect('the retry with the new revision succeeds', retried.data.n === '3', retried);

  const gone = await core.deleteNamespacedConfigMap({ name: 'one', namespace });
  expect('delete says so', gone.status === 'Success', gone);
  await seen.want('DELETED', 'ADDED one', 'MODIFIED one', 'MODIFIED one', 'DELETED one');
  expect('it is gone', await refusal(core.readNamespacedConfigMap({ name: 'one', namespace })) === '404 NotFound');
  watch.abort();
}

async function pages(namespace) {
  for (let i = 0; i < 25; i++) {
    await core.createNamespacedConfigMap({ namespace, body: configMap(pageName(i), i % 2 ? 'odd' : 'even') });
  }
  const sizes = [];
  const names = [];
  for (let token = undefined; ; ) {
    const page = await core.listNamespacedConfigMap({ namespace, labelSelector, limit: 10, _continue: token });
    sizes.push(page.items.length);
    names.push(...page.items.map((item) => item.metadata.name));
    token = page.metadata._continue;
    if (!token) break;
  }
  expect('three pages', sizes.join() === '10,10,5', sizes);
  expect('every name once and in order',
    names.join() === Array.from({ length: 25 }, (_, i) => pageName(i)).join(), names);

  const odd = await core.listNamespacedConfigMap({ namespace, labelSelector: 'app=clients,tier in (odd)' });
  expect('the odd ones', odd.items.length === 12, odd.items.length);
  const byName = await core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name=page-07' });
  expect('one by its name', byName.items.length === 1, byName.items);

  await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: 'tier=odd' });
  const rest = await core.listNamespacedConfigMap({ namespace, labelSelector });
  expect('the even ones stay', rest.items.length === 13, rest.items.length);
  await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector });
}

async function informer(namespace) {
  await core.createNamespacedConfigMap({ namespace, body: configMap('before', 'none') });
  const seen = new Seen();
  const list = () => core.listNamespacedConfigMap({ namespace, labelSelector });
  const shared = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list, labelSelector);
  for (const event of ['add', 'update', 'delete']) {
    shared.on(event, (object) => seen.add(event, object.metadata.name));
  }
  shared.on('error', (e) => seen.add('error', String(e)));
  await shared.start();
  await seen.want('the informer lists', 'add before');
  const made = await core.createNamespacedConfigMap({ namespace, body: configMap('after', 'none') });
  await seen.want('the informer watches', 'add before', 'add after');
  delete made.metadata.labels.app;
  await core.replaceNamespacedConfigMap({ name: 'after', namespace, body: made });
  await seen.want('what left the selection', 'add before', 'add after', 'delete after');
  await shared.stop();
}

async function workloads(namespace) {
  const labels = { app: 'web' };
  const made = await apps.createNamespacedDeployment({
    namespace,
    body: {
      metadata: { name: 'web' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] } },
      },
    },
  });
  expect('a deployment of generation 1', made.metadata.generation === 1, made.metadata);
  const scale = await apps.readNamespacedDeploymentScale({ name: 'web', namespace });
  expect('two replicas', scale.spec.replicas === 2, scale.spec);
  scale.spec.replicas = 5;
  await apps.replaceNamespacedDeploymentScale({ name: 'web', namespace, body: scale });
  const scaled = await apps.readNamespacedDeployment({ name: 'web', namespace });
  expect('five replicas', scaled.spec.replicas === 5, scaled.spec);
  await apps.deleteNamespacedDeployment({ name: 'web', namespace });

  const objects = k8s.KubernetesObjectApi.makeApiClient(config);
  const secret = await objects.create({
    apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace }, stringData: { key: 'value' },
  });
  expect('a kind found by discovery; text becomes data', secret.data?.key === 'dmFsdWU=', secret);
}

try {
  const spaces = (await core.listNamespace()).items.map((item) => item.metadata.name);
  expect('the namespaces of every cluster',
    ['default', 'kube-node-lease', 'kube-public', 'kube-system'].every((name) => spaces.includes(name)), spaces);
  const made = await core.createNamespace({ body: { metadata: { generateName: 'clients-js-' } } });
  const namespace = made.metadata.name;
  expect('a generated name', /^clients-js-.{5}$/.test(namespace), namespace);
  await life(namespace);
  await pages(namespace);
  await informer(namespace);
  await workloads(namespace);
  const ending = await core.deleteNamespace({ name: namespace });
  expect('the namespace ends', ending.status !== 'Failure', ending);
} catch (e) {
  expect('no call throws', false, e.stack + (e.body ?? ''));
}
console.log(failed ? `${passed} checks passed, ${failed} failed` : `${passed} checks passed`);
process.exit(failed ? 1 : 0);
