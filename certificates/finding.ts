/**
 * What is wrong with a certificate or key, in plain words and without any of the key. An error
 * keeps it from being used, a warning does not.
 */
export type Finding = { readonly severity: 'error' | 'warning'; readonly message: string };

export function errorFinding(message: string): Finding {
  return { severity: 'error', message };
}

export function warningFinding(message: string): Finding {
  return { severity: 'warning', message };
}

/** The errors as one sentence; undefined when there is none. */
export function errorsOf(findings: readonly Finding[]): string | undefined {
  const errors = findings.filter(({ severity }) => severity === 'error');
  return errors.length === 0 ? undefined : errors.map(({ message }) => message).join('; ');
}
