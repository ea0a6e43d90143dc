import { inspect } from 'node:util';
import type { FileEvent } from './test-result.ts';

/** What Node's runner tells of a test. Source: nodejs.org/api/test.html, TestsStream. */
export type RunnerEvent = {
  readonly type: string;
  readonly data: {
    readonly name?: string;
    readonly nesting?: number;
    readonly message?: string;
    readonly skip?: string | boolean;
    readonly todo?: string | boolean;
    readonly details?: {
      readonly type?: string;
      readonly error?: Error & { readonly failureType?: string };
    };
  };
};

/**
 * Returns a function that makes FileEvents of what Node's runner tells of one file, in its order.
 */
export function fileEvents(file: string): (event: RunnerEvent) => FileEvent | undefined {
  const path: string[] = [];
  return event => {
    const { name = '', nesting = 0 } = event.data;
    if (event.type === 'test:start') path[nesting] = name;
    return fileEvent(event, [...path.slice(0, nesting), name].join(' › '), name === file);
  };
}

/**
 * Node makes a test of a file that has none, or that cannot be loaded. `isFile` says that it did.
 */
function fileEvent(
  { data, type }: RunnerEvent,
  name: string,
  isFile: boolean,
): FileEvent | undefined {
  const { details, message = '', skip, todo } = data;
  const suite = details?.type === 'suite';
  // What went wrong when no test ran any more is told here alone.
  if (type === 'test:diagnostic' && message.startsWith('Error: ')) return { failed: message };
  if (type === 'test:fail') {
    // Each of the tests in it that failed has an event of its own.
    if (suite && details?.error?.failureType === 'subtestsFailed') return undefined;
    return { failed: `${name}: ${inspect(details?.error?.cause ?? details?.error)}` };
  }
  if (type !== 'test:pass' || suite || wanted(todo)) return undefined;
  if (isFile) return { failed: 'There is no test in it' };
  if (!wanted(skip)) return { passed: name };
  return {
    skipped: `${name}: ${typeof skip === 'string' && skip !== '' ? skip : 'no reason given'}`,
  };
}

/** A skip or todo without a reason is `true`, or an empty string. */
function wanted(mark: string | boolean | undefined): boolean {
  return mark !== undefined && mark !== false;
}
