import type { Dashboard, Panel } from './dashboards.ts';

const WIDTH = 12;
const HEIGHT = 8;
const DATASOURCE = { type: 'prometheus', uid: '$datasource' };

/** Returns what Grafana imports. */
export function toGrafana({ panels, title, uid }: Dashboard): object {
  return {
    uid,
    title,
    tags: ['gateway'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
    panels: panels.map(toPanel),
  };
}

function toPanel({ curves, title, unit = 'short' }: Panel, index: number): object {
  return {
    id: index + 1,
    type: 'timeseries',
    title,
    datasource: DATASOURCE,
    gridPos: { x: (index % 2) * WIDTH, y: Math.floor(index / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: Object.entries(curves).map(([legendFormat, expr], at) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + at),
      expr: expr.replaceAll('[$step]', '[$__rate_interval]'),
      legendFormat,
    })),
  };
}
