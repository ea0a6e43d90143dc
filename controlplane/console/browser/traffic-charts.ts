import type { Traffic } from '#controlplane/console/views/totals.ts';
import { Chart } from './chart.ts';
import { ms, percent, rate } from './format.ts';
import { html, type Shown } from './html.ts';
import { Empty, Panel } from './parts.ts';

/** Requests a second with failures, and latency. */
export function TrafficCharts({ traffic }: { readonly traffic: Traffic }): Shown {
  const { lastMinute, on, series } = traffic;
  if (!on || series.requests.length < 2)
    return html`<${Panel} title="Traffic" wide=${true}><${Empty}>${
      on
        ? 'No figures yet. The proxies push them every few seconds.'
        : 'The proxies push no figures, since FIGURES is off.'
    }<//><//>`;
  const seconds = series.stepMs / 1000;
  const aSecond = (values: readonly number[]) => values.map(value => value / seconds);
  const last = (values: readonly (number | null)[]) => values.findLast(value => value !== null);
  const text = `${rate(lastMinute.rate)} requests a second in the last minute, ${percent(lastMinute.serverErrors, lastMinute.requests)} of them failed.`;
  return html`
    <${Panel} title="Requests a second" aside=${html`<${Legend} keys=${[['all', 'all'], ['warn', '4xx'], ['bad', '5xx']]} />`}>
      <${Chart} series=${series} unit=${rate} text=${text} curves=${[
        { label: 'all', color: 'accent', values: aSecond(series.requests) },
        { label: '4xx', color: 'warn', values: aSecond(series.clientErrors) },
        { label: '5xx', color: 'bad', values: aSecond(series.serverErrors) },
      ]} />
    <//>
    <${Panel} title="Latency" aside=${html`<${Legend} keys=${[['p50', 'half of them (p50)'], ['all', '99 % (p99)']]} />`}>
      <${Chart} series=${series} unit=${ms} text=${`Half of the requests take ${ms(last(series.p50))} at most, 99 % take ${ms(last(series.p99))} at most.`} curves=${[
        { label: 'p99', color: 'accent', values: series.p99 },
        { label: 'p50', color: 'ok', values: series.p50 },
      ]} />
    <//>`;
}

function Legend({ keys }: { readonly keys: readonly (readonly [string, string])[] }): Shown {
  return html`<div class="legend">${keys.map(([key, label]) => html`<span class=${`key-${key}`}>${label}</span>`)}</div>`;
}
