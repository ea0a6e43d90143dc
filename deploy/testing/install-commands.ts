import { commands, readDocument } from '../../readme/code-blocks.ts';

/** Returns the commands of kubectl in these sections of the page about Kubernetes. */
export function installCommands(...headings: readonly string[]): readonly string[] {
  const sections = readDocument('docs/how-to/kubernetes.md').split(/^## /m);
  return headings
    .flatMap(heading =>
      commands(sections.find(section => section.startsWith(`${heading}\n`)) ?? ''),
    )
    .filter(command => command.includes('kubectl '));
}
