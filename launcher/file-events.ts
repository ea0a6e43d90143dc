import { inspect } from 'node:util';
import type { FileEvent } from './test-result.ts';

/** An event of Node's test runner. Source: nodejs.org/api/test.html, TestsStream. */
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
 * Returns a function that turns the runner's events of one file into FileEvents, in their order.
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
 * Node reports a file that has no test, or cannot be loaded, as a test. `isFile` says that it did.
 */
function fileEvent(
  { data, type }: RunnerEvent,
  name: string,
  isFile: boolean,
): FileEvent | undefined {
  const { details, message = '', skip, todo } = data;
  const suite = details?.type === 'suite';
  // An error that occurs when no test runs any more is reported here alone.
  if (type === 'test:diagnostic' && message.startsWith('Error: ')) return { failed: message };
  if (type === 'test:fail') {
    // Each test in it that failed has an event of its own.
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
