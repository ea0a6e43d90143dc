import { inspect } from 'node:util';
import type { FileEvent } from './test-result.ts';

/** What `node --test` tells a reporter, as far as it is read here. Source: nodejs.org/api/test.html, TestsStream. */
type RunnerEvent = {
  readonly type: string;
  readonly data: {
    readonly file?: string;
    readonly name?: string;
    readonly message?: string;
    readonly skip?: string | boolean;
    readonly todo?: string | boolean;
    readonly details?: {
      readonly type?: string;
      readonly error?: Error & { readonly failureType?: string };
    };
  };
};

/** A reporter for `node --test`: yields a line of JSON for each FileEvent, as it comes. */
// biome-ignore lint/style/noDefaultExport: node --test loads a reporter by its default export.
export default async function* reportFileEvents(events: AsyncIterable<RunnerEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    const told = fileEvent(event);
    if (told !== undefined) yield `${JSON.stringify(told)}\n`;
  }
}

function fileEvent({ data, type }: RunnerEvent): FileEvent | undefined {
  const { details, file, message, name, skip, todo } = data;
  if (file === undefined) return undefined;
  const suite = details?.type === 'suite';
  if (type === 'test:stdout' || type === 'test:stderr') return { file, output: message ?? '' };
  if (type === 'test:fail') {
    // Each of the tests in it that failed has an event of its own.
    if (suite && details?.error?.failureType === 'subtestsFailed') return undefined;
    return { file, failed: `${name}: ${inspect(details?.error?.cause ?? details?.error)}` };
  }
  if (type !== 'test:pass' || suite || wanted(todo)) return undefined;
  if (!wanted(skip)) return { file, passed: true };
  return { file, skipped: `${name}: ${typeof skip === 'string' && skip !== '' ? skip : 'no reason given'}` };
}

/** A skip or todo without a reason is `true`, or an empty string. */
function wanted(mark: string | boolean | undefined): boolean {
  return mark !== undefined && mark !== false;
}
