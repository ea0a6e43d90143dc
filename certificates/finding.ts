/**
 * What is wrong with a certificate or key, in plain words and without any of the key. With an error
 * it is not used. With a warning it is.
 */
export type Finding = { readonly severity: 'error' | 'warning'; readonly message: string };

export function errorFinding(message: string): Finding {
  return { severity: 'error', message };
}

export function warningFinding(message: string): Finding {
  return { severity: 'warning', message };
}

/**
 * Joins the errors to one sentence.
 * @returns undefined when there is none
 */
export function errorsOf(findings: readonly Finding[]): string | undefined {
  const errors = findings.filter(({ severity }) => severity === 'error');
  return errors.length === 0 ? undefined : errors.map(({ message }) => message).join(', and ');
}
