import type {
  CertificatesView,
  HostCertificate,
  Certificates as Others,
} from '#controlplane/console/views/certificates.ts';
import type { ListedCertificate } from '#controlplane/knowledge/knowledge.ts';
import { ActForm } from '../act.ts';
import { counted } from '../format.ts';
import { html, type Shown } from '../html.ts';
import { serverNow, useView } from '../live.ts';
import { Badge, type Column, Empty, Loaded, Panel, Source, Table } from '../parts.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** All certificates, with the time that is left. */
export function Certificates(): Shown {
  const view = useView<CertificatesView>('certificates');
  return html`<div class="head"><h1>Certificates</h1></div>
    <${Loaded} view=${view} show=${({
      hosts,
      others,
    }: CertificatesView) => html`<div class="panels">
      <${Panel} title="Certificates of Hosts" wide=${true}>
        ${hosts.length === 0 ? html`<${Empty}>No Host has TLS, so the edge serves no certificate.<//>` : html`<${Table} caption="Certificates of Hosts" columns=${HOSTS} rows=${hosts} keyOf=${({ host, hostname }: HostCertificate) => `${host} ${hostname}`} />`}
      <//>
      <${Panel} title="Identities, roots and other secrets" aside="of the discovery service" wide=${true}><${AllOthers} known=${others} /><//>
    </div>`} />`;
}

function AllOthers({ known }: { readonly known: Others }): Shown {
  if ('error' in known)
    return html`<p class="notice bad">The discovery service cannot be asked. ${known.error}</p>`;
  if (known.certificates.length === 0) return html`<${Empty}>It has no certificate.<//>`;
  return html`<${Table} caption="Identities, roots and other secrets" columns=${OTHERS} rows=${known.certificates} keyOf=${({ kind, name, serial }: ListedCertificate) => `${kind} ${name} ${serial}`} />
    <p class="muted body">The authority renews what it has issued at half of its life. Each discovery service issues its own to proxies. One of them has answered.</p>`;
}

/** What the authority issues ends soon by design, so it is judged by hours. */
function TimeLeft({ ends, soon }: { readonly ends: number; readonly soon: boolean }): Shown {
  const left = ends - serverNow();
  if (left < 0) return html`<${Badge} tone="bad">expired<//>`;
  const [bad, warn] = soon ? [HOUR_MS, HOUR_MS] : [7 * DAY_MS, 30 * DAY_MS];
  const tone = left < bad ? 'bad' : left < warn ? 'warn' : 'ok';
  const date = new Date(ends).toISOString().slice(0, 10);
  return html`<${Badge} tone=${tone}>${leftText(left)} left<//> <span class="muted">${date}</span>`;
}

function leftText(ms: number): string {
  const [unit, noun] = ms < 2 * DAY_MS ? [HOUR_MS, 'hour'] : [DAY_MS, 'day'];
  return counted(Math.floor(ms / unit), noun);
}

const FROM: Readonly<Record<HostCertificate['source'], string>> = {
  secret: 'a Secret',
  files: 'files of the discovery service',
  authority: 'the built-in authority',
  acme: 'an ACME authority',
};

/** Orders another certificate before the time of this one. */
function Renew({ facts, hostname, source }: HostCertificate): Shown {
  return html`${FROM[source]}<${ActForm} action="renew-certificate" button="Renew"
    read=${() => ({ hostname, serial: facts?.serial ?? '', revoke: false })}
    ask=${`Order another certificate for ${hostname}?`} />`;
}

const HOSTS: readonly Column<HostCertificate>[] = [
  { head: 'Host', className: 'path', cell: ({ hostname }) => hostname },
  {
    head: 'Ends',
    className: 'tight',
    cell: ({ facts, source }) =>
      facts === undefined
        ? html`<span class="muted">known to discovery alone</span>`
        : html`<${TimeLeft} ends=${Date.parse(facts.notAfter)} soon=${source === 'authority'} />`,
  },
  {
    head: 'Comes from',
    cell: host => (host.source === 'acme' ? html`<${Renew} ...${host} />` : FROM[host.source]),
  },
  { head: 'Issuer', className: 'wrap', cell: ({ facts }) => facts?.issuer ?? '' },
  { head: 'Serial', className: 'path', cell: ({ facts }) => facts?.serial ?? '' },
  {
    head: 'Written in',
    cell: ({ file, line = 0 }) =>
      file === undefined ? '' : html`<${Source} file=${file} line=${line} />`,
  },
];

const KINDS: Readonly<Record<ListedCertificate['kind'], string>> = {
  identity: 'identity of proxies',
  written: 'identity in files or a Secret',
  root: 'root of the authority',
  served: 'secret for proxies',
};

const OTHERS: readonly Column<ListedCertificate>[] = [
  { head: 'What', cell: ({ kind }) => KINDS[kind] },
  {
    head: 'Name',
    className: 'path',
    cell: ({ name, problem }) =>
      problem === '' ? name : html`${name} <span class="error">${problem}</span>`,
  },
  {
    head: 'Ends',
    className: 'tight',
    cell: ({ ends, kind }) =>
      html`<${TimeLeft} ends=${ends} soon=${kind === 'identity' || kind === 'written'} />`,
  },
  { head: 'Serial', className: 'path', cell: ({ serial }) => serial },
];
