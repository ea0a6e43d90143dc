import type { Known } from '#controlplane/console/views/knowledge.ts';
import type {
  CounterKey,
  LimitCounters,
  Counters as View,
} from '#controlplane/knowledge/knowledge.ts';
import { count, counted } from './format.ts';
import { html, type Shown } from './html.ts';
import { useView } from './live.ts';
import { type Column, Empty, Loaded, Panel, Table } from './parts.ts';

/** What ratelimit-service has counted. */
export function Counters(): Shown {
  const view = useView<Known<View>>('counters');
  return html`<${Panel} title="Counters" aside="the highest of the present window" wide=${true}>
    <${Loaded} view=${view} show=${(known: Known<View>) => html`<${Shows} known=${known} />`} />
  <//>`;
}

function Shows({ known }: { readonly known: Known<View> }): Shown {
  if ('error' in known)
    return html`<p class="notice bad">ratelimit-service cannot be asked. ${known.error}</p>`;
  const { limits, processes, store } = known;
  if (limits.length === 0) return html`<${Empty}>There is no limit.<//>`;
  return html`<${Table} caption="Counters" columns=${COLUMNS} rows=${limits} keyOf=${({ limit }: LimitCounters) => limit} />
    <p class="muted body">Requests are counted since ${counted(processes, 'process')} of one replica began. ${
      store === 'redis'
        ? 'The keys are those that this replica has seen, with the counts of all replicas.'
        : 'Counters are in the memory of this replica alone.'
    }</p>`;
}

const COLUMNS: readonly Column<LimitCounters>[] = [
  { head: 'Limit', cell: ({ limit }) => html`<b>${limit}</b>` },
  { head: 'Within', number: true, cell: ({ near, within }) => count(within + near) },
  { head: 'Near it', number: true, cell: ({ near }) => count(near) },
  { head: 'Rejected', number: true, cell: ({ over }) => count(over) },
  { head: 'Only logged', number: true, cell: ({ overLogOnly }) => count(overLogOnly) },
  {
    head: 'Highest keys',
    className: 'wrap',
    cell: ({ keys }) =>
      keys.length === 0
        ? html`<span class="muted">none now</span>`
        : keys.map(key => html`<div><b>${count(key.count)}</b> <code>${textOf(key)}</code></div>`),
  },
];

function textOf({ labels }: CounterKey): string {
  return labels.map(({ key, value }) => `${key}=${value}`).join(', ');
}
