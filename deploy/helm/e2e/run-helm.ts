import { spawnSync } from 'node:child_process';
import { findTool } from '#launcher/testing/find-tool.ts';
import type { Chart } from '../chart.ts';

const { path, skip } = findTool('gateway-helm');

/** Why there is no Helm, or false. */
export const WHY_NO_HELM = skip;

/**
 * Runs Helm with these values, and without a cluster unless `args` name one. Keeps nothing in the
 * user's folders.
 */
export function runHelm(folder: string, args: readonly string[], values: object = {}) {
  const { status, stdout, stderr } = spawnSync(path, args, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, HOME: folder, KUBECONFIG: '/dev/null' },
    input: JSON.stringify(values),
    maxBuffer: 64 * 1024 * 1024,
  });
  return { status, stdout, stderr };
}

/** Returns the chart for an API server of the tests, which is built without its version. */
export function forAnyServer(chart: Chart): Chart {
  const about = chart.files.get('Chart.yaml')?.replace(/^kubeVersion: .*\n/m, '') ?? '';
  return { ...chart, files: new Map(chart.files).set('Chart.yaml', about) };
}
