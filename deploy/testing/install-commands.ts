import { commands, readDocument } from '../../readme/code-blocks.ts';

/** Returns the commands for a cluster in these sections of the page about Kubernetes. */
export function installCommands(...headings: readonly string[]): readonly string[] {
  return clusterCommands('docs/how-to/kubernetes.md', ...headings);
}

/** Returns the commands of kubectl and Helm in these sections of a page. */
export function clusterCommands(page: string, ...headings: readonly string[]): readonly string[] {
  const sections = readDocument(page).split(/^## /m);
  return headings
    .flatMap(heading =>
      commands(sections.find(section => section.startsWith(`${heading}\n`)) ?? ''),
    )
    .filter(command => /(^|\W)(kubectl|helm) /.test(command));
}
