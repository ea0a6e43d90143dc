import { escapeControls, problemText } from '#controlplane/rollout/problems.ts';
import type { Problem } from '#resources/problem.ts';
import { shorten } from './shorten.ts';

/**
 * Returns workflow commands of GitHub Actions, which show each Problem at its line. See "Workflow
 * commands for GitHub Actions", `error` and `warning`.
 */
export function toGithub(problems: readonly Problem[]): string {
  return problems.map(problem => `${commandOf(problem)}\n`).join('');
}

function commandOf(problem: Problem): string {
  const { severity, file, line, kind, namespace, name } = problem;
  const title = [kind, [namespace, name].filter(part => part !== '').join('/')]
    .filter(part => part !== '')
    .join(' ');
  const properties = Object.entries({
    ...(file === '' ? {} : { file: shorten(file) }),
    ...(line === 0 ? {} : { line: String(line) }),
    ...(title === '' ? {} : { title }),
  }).map(([property, value]) => `${property}=${escapeProperty(value)}`);
  const given = properties.length === 0 ? '' : ` ${properties.join(',')}`;
  return `::${severity}${given}::${escapeData(problemText(problem))}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(escapeControls(text)).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
