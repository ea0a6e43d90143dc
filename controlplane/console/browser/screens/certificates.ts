import type {
  CertificateRow,
  HostRow,
  Certificates as View,
} from '#controlplane/console/views/certificates.ts';
import { shortName } from '../format.ts';
import { html, type Shown } from '../html.ts';
import { useView } from '../live.ts';
import { Badge, type Column, Empty, Loaded, Panel, Source, Table } from '../parts.ts';

const DAY_MS = 86_400_000;

/** Certificates with the days that are left, and who serves them. */
export function Certificates(): Shown {
  const view = useView<View>('certificates');
  return html`<div class="head"><h1>Certificates</h1></div>
    <${Loaded} view=${view} show=${({ certificates, hosts }: View) => html`<div class="panels">
      <${Panel} title="Certificates of Secrets" wide=${true}>
        ${certificates.length === 0 ? html`<${Empty}>No Secret holds a certificate.<//>` : html`<${Table} caption="Certificates" columns=${COLUMNS} rows=${certificates} keyOf=${({ id }: CertificateRow) => id} />`}
      <//>
      <${Panel} title="Hosts" wide=${true}>
        ${hosts.length === 0 ? html`<${Empty}>There is no Host, so the edge speaks no TLS.<//>` : html`<${Table} caption="Hosts" columns=${HOSTS} rows=${hosts} keyOf=${({ id }: HostRow) => id} />`}
      <//>
    </div>`} />`;
}

/** Says how long a certificate is good. */
export function DaysLeft({ notAfter }: { readonly notAfter: number }): Shown {
  const days = Math.floor((notAfter - Date.now()) / DAY_MS);
  if (days < 0) return html`<${Badge} tone="bad">expired<//>`;
  return html`<${Badge} tone=${days < 7 ? 'bad' : days < 30 ? 'warn' : 'ok'}>${days} ${days === 1 ? 'day' : 'days'} left<//>`;
}

const COLUMNS: readonly Column<CertificateRow>[] = [
  { head: 'Names', className: 'path', cell: ({ names }) => names.join(', ') },
  {
    head: 'Ends',
    className: 'tight',
    cell: ({ notAfter }) =>
      html`<${DaysLeft} notAfter=${notAfter} /> <span class="muted">${new Date(notAfter).toISOString().slice(0, 10)}</span>`,
  },
  { head: 'Issuer', cell: ({ issuer }) => issuer },
  {
    head: 'Used by',
    cell: ({ usedBy }) =>
      usedBy.length === 0 ? html`<span class="muted">nothing</span>` : usedBy.join(', '),
  },
  { head: 'Secret', cell: ({ id }) => shortName(id) },
  { head: 'Written in', cell: row => html`<${Source} ...${row} />` },
];

const HOSTS: readonly Column<HostRow>[] = [
  { head: 'Host', className: 'path', cell: ({ hostname }) => hostname },
  { head: 'Its certificate comes from', cell: ({ from }) => from },
  { head: 'Written in', cell: row => html`<${Source} ...${row} />` },
];
