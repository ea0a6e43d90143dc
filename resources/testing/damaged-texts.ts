/** A document of each sort. */
const SEED = [
  'apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: a}\nspec:\n  prefix: /a\n  service: x\n',
  'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: "x"}\ndata: {b: eA==}\n',
  'apiVersion: gateway.internal/v2\nkind: Module\nmetadata: {name: gateway}\nspec: {config: {default_labels: {d: {defaults: [a, {k: {header: h}}]}}}}\n',
  'apiVersion: gateway.internal/v2\nkind: ProxyConfig\nmetadata: {name: p}\nspec:\n  node_group: g\n  clusters:\n  - &c {name: c, type: static, hosts: [{url: "tcp://1.2.3.4:5"}]}\n  virtual_hosts: [{name: v, domains: ["*"], routes: [{prefix: /, cluster: c}]}]\n  cluster_manager: {sds: {cluster: *c}}\n',
  'apiVersion: gateway.internal/v2\nkind: RateLimit\nmetadata: {name: r}\nspec:\n  domain: d\n  limits: [{pattern: [{a: x, a: y}], rate: 1, unit: hour}]\n',
  'apiVersion: gateway.internal/v2\nkind: Filter\nmetadata: {name: f}\nspec: {OAuth2: {authorizationURL: "https://i", clientID: me, secret: s, protectedOrigins: [{origin: "https://a"}]}}\n',
  'apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: h, generation: 1, labels: {a: b}}\nspec:\n  hostnames: [a.b]\n  rules: [{matches: [{path: {value: /}}], backendRefs: [{name: s, port: 1}]}]\n',
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {ca.crt: x}\n',
  'apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Secret}, null, 5]\n',
].join('---\n');

const SPLINTERS = [
  '\n',
  ' ',
  '\t',
  '-',
  '---\n',
  '...\n',
  ':',
  ': ',
  '{',
  '}',
  '[',
  ']',
  '"',
  "'",
  '&c ',
  '*c',
  '!!map ',
  '<<: *c',
  '|',
  '>',
  '#',
  '%',
  '\0',
  'é',
  '\ud800',
  '\r',
  '~',
  '0',
  'null',
  '? ',
  '__proto__: 1\n',
  '- ',
];

/**
 * Deterministic, so that a failure can be repeated: the numbers of "minimal standard" (Park and
 * Miller, 1988).
 */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

/**
 * So many texts of several documents, with a few places of each damaged. The same ones every time.
 */
export function* damagedTexts(count: number): Iterable<string> {
  const random = randomFrom(11);
  for (let round = 0; round < count; round++) {
    let text = SEED;
    for (let edit = 0; edit <= random(4); edit++) {
      const at = random(text.length);
      text =
        text.slice(0, at) +
        (SPLINTERS[random(SPLINTERS.length)] ?? '') +
        text.slice(at + random(12));
    }
    yield text;
  }
}
