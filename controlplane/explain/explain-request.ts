import { nodeGroups } from '#controlplane/compile/all-node-groups.ts';
import type { CompileOptions } from '#controlplane/compile/options.ts';
import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Explanation } from './explanation.ts';

/** A question to `/explain`: a request as a client writes it. */
export type ExplainQuestion = {
  readonly method: string;
  readonly url: string;
  /** `name: value`, in their order. */
  readonly headers: readonly string[];
  /** IP address of the connection. */
  readonly from: string;
  readonly nodeGroup: string;
};

export type ExplainBasis = {
  readonly resources: ResourceSet;
  readonly problems: readonly Problem[];
  readonly options: CompileOptions;
};

/**
 * Returns what happens to a request with what is in force. The code for it is loaded on first use.
 * Throws an Error that says what is wrong with the question.
 */
export async function explainRequest(
  question: ExplainQuestion,
  basis: ExplainBasis,
): Promise<Explanation> {
  const [{ parseClientRequest }, { explain }] = await Promise.all([
    import('./client-request.ts'),
    import('./explanation.ts'),
  ]);
  const { from, headers: header, method, nodeGroup, url } = question;
  const request = parseClientRequest(method, url, { header, from });
  const groups = nodeGroups(basis.resources, basis.options);
  if (!groups.includes(nodeGroup))
    throw new Error(`There is no node group "${nodeGroup}": there are ${groups.join(', ')}`);
  return explain({ ...basis, nodeGroup, request }).explanation;
}

/**
 * Parses the body of a question.
 * @returns undefined when it is not a question
 */
export function parseQuestion(body: unknown): ExplainQuestion | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { from, headers, method, nodeGroup, url } = body as Record<string, unknown>;
  const texts = [from, method, nodeGroup, url];
  if (!texts.every(text => typeof text === 'string') || !Array.isArray(headers)) return undefined;
  return headers.every(header => typeof header === 'string')
    ? (body as ExplainQuestion)
    : undefined;
}
