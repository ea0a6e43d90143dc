/* biome-ignore-all lint/suspicious/noTemplateCurlyInString: operators write these forms */
import type { FieldPath } from '#resources/finding.ts';
import { unservedOf } from '#resources/schema/restrictions.ts';
import { type Fields, isFields } from '#resources/words/fields.ts';
import { parseService, serviceIn } from '#resources/words/service.ts';
import { fieldsAt, listAt } from '../import/fields-at.ts';
import type { SourceObject } from '../import/source-object.ts';
import { type Change, placeOf, type Site } from './change.ts';

/**
 * The changes that a program can recognize in what operators have. The newest come first. A change
 * that breaks or differs for some joins this table together with its line in CHANGELOG.
 */
export const CHANGES: readonly Change[] = [
  {
    id: 'secret-places',
    version: '0.1.0',
    what: 'A text of `stringData` with `${env:…}` or `${file:…}` is read from there. It was literal.',
    remedy: 'Write a literal text into `data`, in base64.',
    find: fieldsOf('Secret', object =>
      Object.entries(fieldsAt(object.fields.stringData)).flatMap(([key, text]) =>
        /\$\{\s*(?:env|file)\s*:/i.test(String(text)) ? [['stringData', key]] : [],
      ),
    ),
  },
  {
    id: 'acme-orders',
    version: '0.1.0',
    what: 'An `acmeProvider` is served. The gateway orders the certificate and writes the `tlsSecret`.',
    remedy: 'Write `authority: none` to keep another issuer.',
    find: fieldsOf('Host', object => (asksAcme(specOf(object)) ? [['spec', 'acmeProvider']] : [])),
  },
  {
    id: 'acme-demands',
    version: '0.1.0',
    what: 'A Host whose `acmeProvider` has no `email`, or whose hostname has a `*`, is rejected.',
    remedy: 'Write an `email` and the whole hostname, or `authority: none`.',
    find: fieldsOf('Host', object => {
      const { acmeProvider, hostname = '*' } = specOf(object);
      const isWrong = fieldsAt(acmeProvider).email === undefined || String(hostname).includes('*');
      return asksAcme(specOf(object)) && isWrong ? [['spec', 'acmeProvider']] : [];
    }),
  },
  {
    id: 'listeners',
    version: '0.1.0',
    what: 'A Listener opens its port. It was reported as not served.',
    remedy: 'Remove it, or open its port. Listeners replace `EDGE_ADDRESS` and `EDGE_TLS_ADDRESS`.',
    find: fieldsOf('Listener', () => [['spec', 'port']]),
  },
  {
    id: 'edge-addresses',
    version: '0.1.0',
    what: 'Beside a Listener `EDGE_ADDRESS` and `EDGE_TLS_ADDRESS` have no effect.',
    remedy: 'Remove the variables, or write Listeners for their ports.',
    find: ({ environment, objects }) =>
      objects.some(({ kind }) => kind === 'Listener')
        ? ['EDGE_ADDRESS', 'EDGE_TLS_ADDRESS'].filter(name => environment[name]).map(inEnvironment)
        : [],
  },
  {
    id: 'names-of-hosts',
    version: '0.1.0',
    what: 'Once there is a Host, Mappings are served on the names of Hosts alone. Others get 404.',
    remedy: 'Add a Host with `hostname: "*"`, or `serve_other_hosts: true` of the Module.',
    find: ({ objects }) => {
      const hosts = objects.filter(({ kind }) => kind === 'Host');
      const isOpen =
        hosts.some(host => (specOf(host).hostname ?? '*') === '*') ||
        modulesOf(objects).some(config => config.serve_other_hosts === true);
      return isOpen ? [] : hosts.map(host => placeOf(host, ['spec', 'hostname']));
    },
  },
  {
    id: 'restrictions',
    version: '0.1.0',
    what: 'What would restrict access and is not served closes what it covers, with 500.',
    remedy: 'Write it as a Filter or FilterPolicy, or name it in `ignore` of the Module.',
    find: ({ objects }) => {
      const ignored = modulesOf(objects)
        .flatMap(({ ignore }) => (Array.isArray(ignore) ? ignore : []))
        .map(name => String(name).toLowerCase());
      return objects.flatMap(object =>
        unservedOf(object.kind, object.name, object.fields.spec)
          .filter(({ name }) => !ignored.includes(name.toLowerCase()))
          .map(({ path }) => placeOf(object, path)),
      );
    },
  },
  {
    id: 'services-in-namespaces',
    version: '0.1.0',
    what: '`service: b` of a Mapping that names a namespace is `b.<namespace>`. It was `b`.',
    remedy: 'Write a plain DNS name with a dot at its end or with its domain.',
    find: fieldsOf('Mapping', object => {
      const { namespace } = object;
      const parsed = parseService(String(specOf(object).service));
      if (namespace === undefined || 'error' in parsed || isRedirect(object)) return [];
      const isMoved = serviceIn(parsed.value, namespace).host !== parsed.value.host;
      return isMoved ? [['spec', 'service']] : [];
    }),
  },
  {
    id: 'time-of-answers',
    version: '0.1.0',
    what: '`timeout_ms` bounds the time until an answer begins. It bounded the whole answer.',
    remedy: 'Bound streams by `idle_timeout_ms`.',
    find: fieldsOf('Mapping', object =>
      Number(specOf(object).timeout_ms) > 0 && !isRedirect(object) ? [['spec', 'timeout_ms']] : [],
    ),
  },
  {
    id: 'both-label-domains',
    version: '0.1.0',
    what: 'Limits of the domains `gateway` and `ambassador` are in force side by side.',
    remedy: 'Write `default_label_domain` into the Module to have one domain alone.',
    find: ({ objects }) => {
      const limits = objects.filter(({ kind }) => kind === 'RateLimit');
      const of = (domain: string) => limits.filter(limit => domainOf(limit) === domain);
      const isOne = modulesOf(objects).some(config => config.default_label_domain !== undefined);
      if (isOne || of('gateway').length === 0) return [];
      return of('ambassador').map(limit => placeOf(limit, ['spec', 'domain']));
    },
  },
  {
    id: 'networks-of-clients',
    version: '0.1.0',
    what: 'A limit on `remote_address` counts IPv6 clients by their /64.',
    remedy: '`remote_address_prefix: { ipv6: 128 }` of the Module counts each address.',
    find: fieldsOf('RateLimit', object =>
      JSON.stringify(specOf(object).limits ?? []).includes('"remote_address"')
        ? [['spec', 'limits']]
        : [],
    ),
  },
  {
    id: 'logins-by-https',
    version: '0.1.0',
    what: 'On https origins without `includeSubdomains` users log in once more after the upgrade.',
    remedy: 'Choose a quiet hour.',
    find: fieldsOf('Filter', object => {
      const origins = listAt(specOf(object), 'OAuth2', 'protectedOrigins');
      return origins
        .map(each => fieldsAt(each))
        .flatMap(({ includeSubdomains, origin }, at) =>
          String(origin).startsWith('https:') && includeSubdomains !== true
            ? [['spec', 'OAuth2', 'protectedOrigins', at]]
            : [],
        );
    }),
  },
  {
    id: 'shared-store-key',
    version: '0.1.0',
    what: 'A login that has begun ends at any replica of ext-authz that has the same store key.',
    remedy: 'Give all replicas one key in `STORE_KEY` or `STORE_KEY_FILE`.',
    find: ({ environment: { REDIS_URL, STORE_KEY, STORE_KEY_FILE } }) =>
      REDIS_URL && !STORE_KEY && !STORE_KEY_FILE ? [inEnvironment('REDIS_URL')] : [],
  },
];

/** Returns a `find` that looks for fields of each object of a kind of ours. */
function fieldsOf(
  kind: string,
  paths: (object: SourceObject) => readonly FieldPath[],
): Change['find'] {
  return ({ objects }: Site) =>
    objects
      .filter(object => object.kind === kind)
      .flatMap(object => paths(object).map(path => placeOf(object, path)));
}

function specOf({ fields }: SourceObject): Fields {
  return fieldsAt(fields.spec);
}

/** Its `service` is the host that clients are sent to, and answers nothing. */
function isRedirect(mapping: SourceObject): boolean {
  return String(specOf(mapping).host_redirect) === 'true';
}

function modulesOf(objects: readonly SourceObject[]): readonly Fields[] {
  return objects
    .filter(({ kind }) => kind === 'Module')
    .map(module => fieldsAt(specOf(module).config));
}

function asksAcme({ acmeProvider }: Fields): boolean {
  return isFields(acmeProvider) && acmeProvider.authority !== 'none';
}

function domainOf(limit: SourceObject): string {
  const ofGroup = limit.group === 'getambassador.io' ? 'ambassador' : 'gateway';
  return String(specOf(limit).domain ?? ofGroup);
}

function inEnvironment(name: string): string {
  return `the environment, ${name}`;
}
