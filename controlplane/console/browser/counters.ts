import type {
  CountersView,
  Known,
  ListedCounters,
  ListedKey,
} from '#controlplane/console/views/knowledge.ts';
import { ActForm } from './act.ts';
import { count, counted } from './format.ts';
import { html, type Shown } from './html.ts';
import { useView } from './live.ts';
import { Badge, type Column, Empty, Loaded, Panel, Table } from './parts.ts';

/** What ratelimit-service has counted. */
export function Counters(): Shown {
  const view = useView<Known<CountersView>>('counters');
  return html`<${Panel} title="Counters" aside="the highest of the present window" wide=${true}>
    <${Loaded} view=${view} show=${(known: Known<CountersView>) => html`<${Shows} known=${known} />`} />
  <//>`;
}

function Shows({ known }: { readonly known: Known<CountersView> }): Shown {
  if ('error' in known)
    return html`<p class="notice bad">ratelimit-service cannot be asked. ${known.error}</p>`;
  const { limits, processes, store } = known;
  if (limits.length === 0) return html`<${Empty}>There is no limit.<//>`;
  return html`<${Table} caption="Counters" columns=${COLUMNS} rows=${limits} keyOf=${({ domain, limit }: ListedCounters) => `${domain} ${limit}`} />
    <p class="muted body">Requests are counted since ${counted(processes, 'process')} of one replica began. ${
      store === 'redis'
        ? 'The keys are those that this replica has seen, with the counts of all replicas.'
        : 'Counters are in the memory of this replica alone.'
    }</p>`;
}

const COLUMNS: readonly Column<ListedCounters>[] = [
  { head: 'Limit', cell: ({ limit }) => html`<b>${limit}</b>` },
  { head: 'Within', number: true, cell: ({ near, within }) => count(within + near) },
  { head: 'Near it', number: true, cell: ({ near }) => count(near) },
  { head: 'Rejected', number: true, cell: ({ over }) => count(over) },
  { head: 'Only logged', number: true, cell: ({ overLogOnly }) => count(overLogOnly) },
  {
    head: 'Highest keys',
    className: 'wrap',
    cell: ({ domain, keys, rate }) =>
      keys.length === 0
        ? html`<span class="muted">none now</span>`
        : html`<ul>${keys.map(key => html`<${Key} key=${textOf(key)} ...${key} domain=${domain} rate=${rate} />`)}</ul>`,
  },
];

/** A value that is not shown may be a credential. Its counter can be reset by who knows it. */
function Key({ domain, rate, ...counter }: KeyProps): Shown {
  const { count: counts, isWhole, labels } = counter;
  return html`<li><div class="row key"><b>${count(counts)}</b> <code class="wrap">${textOf(counter)}</code>
    ${counts > rate ? html`<${Badge} tone="bad">over<//>` : counts >= NEAR * rate ? html`<${Badge} tone="warn">near<//>` : null}
    ${isWhole ? html`<${ActForm} action="reset-counter" button="Reset" read=${() => ({ domain, labels })} ask=${`Let the counter of ${textOf(counter)} begin again at 0?`} />` : null}</div></li>`;
}

type KeyProps = ListedKey & Pick<ListedCounters, 'domain' | 'rate'>;

/** The part of a rate from which ratelimit-service counts a request as near it. */
const NEAR = 0.8;

function textOf({ labels }: ListedKey): string {
  return labels.map(({ key, value }) => `${key}=${value}`).join(', ');
}
