import type { CertificateStatus } from '#controlplane/status/certificates.ts';
import { html, type Shown } from '../html.ts';
import { useView } from '../live.ts';
import { Badge, type Column, Empty, Loaded, Panel, Source, Table } from '../parts.ts';

/** With the place of its Host. */
type Row = CertificateStatus & { readonly file?: string; readonly line?: number };

const DAY_MS = 86_400_000;

/** The certificates that the edge serves, with the days that are left. */
export function Certificates(): Shown {
  const view = useView<readonly Row[]>('certificates');
  return html`<div class="head"><h1>Certificates</h1></div>
    <${Loaded} view=${view} show=${(
      rows: readonly Row[],
    ) => html`<${Panel} title="Certificates of Hosts" wide=${true}>
      ${rows.length === 0 ? html`<${Empty}>No Host has TLS, so the edge serves no certificate.<//>` : html`<${Table} caption="Certificates" columns=${COLUMNS} rows=${rows} keyOf=${({ host }: Row) => host} />`}
    <//>`} />`;
}

function DaysLeft({ notAfter }: { readonly notAfter: string }): Shown {
  const days = Math.floor((Date.parse(notAfter) - Date.now()) / DAY_MS);
  if (days < 0) return html`<${Badge} tone="bad">expired<//>`;
  const tone = days < 7 ? 'bad' : days < 30 ? 'warn' : 'ok';
  return html`<${Badge} tone=${tone}>${days} ${days === 1 ? 'day' : 'days'} left<//> <span class="muted">${notAfter.slice(0, 10)}</span>`;
}

const FROM: Readonly<Record<Row['source'], string>> = {
  secret: 'a Secret',
  files: 'files of the discovery service',
  authority: 'the built-in authority',
};

const COLUMNS: readonly Column<Row>[] = [
  { head: 'Host', className: 'path', cell: ({ hostname }) => hostname },
  {
    head: 'Ends',
    className: 'tight',
    cell: ({ facts, source }) =>
      facts === undefined
        ? html`<span class="muted">${source === 'authority' ? 'renewed in time' : 'known to discovery alone'}</span>`
        : html`<${DaysLeft} notAfter=${facts.notAfter} />`,
  },
  { head: 'Comes from', cell: ({ source }) => FROM[source] },
  { head: 'Issuer', className: 'wrap', cell: ({ facts }) => facts?.issuer ?? '' },
  { head: 'Serial', className: 'path', cell: ({ facts }) => facts?.serial ?? '' },
  {
    head: 'Written in',
    cell: ({ file, line = 0 }) =>
      file === undefined ? '' : html`<${Source} file=${file} line=${line} />`,
  },
];
