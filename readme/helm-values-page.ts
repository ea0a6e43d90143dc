import { makeChart } from '../deploy/helm/chart.ts';
import { valuesTable } from '../deploy/helm/values-page.ts';

const INTRODUCTION = `# Values of the Helm chart

[The chart](../how-to/helm.md) installs the objects of \`deploy/kubernetes\`. These values change
them. Its \`values.schema.json\` rejects all others. Where a value is a list or an object without
fields of its own here, Kubernetes checks it.
`;

/** Returns the page of the values of the Helm chart, in Markdown. */
export function helmValuesPage(): string {
  return `${INTRODUCTION}\n${valuesTable(makeChart().values)}`;
}
