/**
 * Measures how long a question about what is in force holds the control plane's event loop: an
 * explanation that is made there, and one in the thread of `controlplane/questions.ts`. Options:
 * `--mappings`, `--rounds`. `npx node bench/questions.ts --write` writes the page of results.
 */
import { parseArgs } from 'node:util';
import { readConfig } from '#controlplane/config.ts';
import { explainRequest } from '#controlplane/explain/explain-request.ts';
import { compileOptions } from '#controlplane/group-compiler.ts';
import { questions } from '#controlplane/questions.ts';
import { after } from '#process/after.ts';
import { collect } from '#resources/parse/collect.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { EDITED, mappingsFile } from './mappings.ts';
import { circumstances, writePage } from './page.ts';
import { quantile, toMs } from './quantile.ts';
import { toTable } from './table.ts';

const { values } = parseArgs({
  options: {
    mappings: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '10' },
    write: { type: 'boolean', default: false },
  },
});
const began = circumstances();
const text = mappingsFile(Number(values.mappings), { servicePort: 9, hostRewrite: 'a.test' });
const { resources, problems } = collect([parseFile('in.yaml', text, DEFAULT_PARSE_OPTIONS)]);
const options = compileOptions(readConfig({}));
const question = {
  method: 'GET',
  url: `http://any.test${EDITED}`,
  headers: [],
  from: '203.0.113.7',
  nodeGroup: 'edge',
};
const explainHere = () =>
  explainRequest(question, { resources: toResourceSet(resources.values(), []), problems, options });

const asked = questions({
  options: DEFAULT_PARSE_OPTIONS,
  basis: () => ({ inForce: { resources, closed: [] }, known: problems, options, now: Date.now() }),
  failed: cause => {
    throw cause;
  },
  after,
});

/** Returns the CPU time of this thread, in ms. Work of other programs does not count. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * Returns the most CPU time between two turns of the event loop, which is a pause on an idle
 * machine, and the time to the answer.
 */
async function measure(ask: () => Promise<unknown> | undefined) {
  let isAnswered = false;
  let longest = 0;
  let last = cpuMs();
  const begun = performance.now();
  const turn = () => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isAnswered) setImmediate(turn);
  };
  setImmediate(turn);
  await ask();
  isAnswered = true;
  turn();
  return { longest, whole: performance.now() - begun };
}

type Measured = Awaited<ReturnType<typeof measure>>;

function cellsOf(measured: readonly Measured[]): ReadonlyMap<string, string> {
  const median = (part: keyof Measured) =>
    toMs(
      quantile(
        measured.map(each => each[part]),
        0.5,
      ),
    );
  return new Map([
    ['longest pause of the event loop, median', median('longest')],
    ['longest pause, worst', toMs(Math.max(...measured.map(({ longest }) => longest)))],
    ['time to the answer, median', median('whole')],
  ]);
}

const first = {
  here: await measure(explainHere),
  thread: await measure(() => asked.explain(question)),
};
const here: Measured[] = [];
const thread: Measured[] = [];
for (let round = 0; round < Number(values.rounds); round++) {
  here.push(await measure(explainHere));
  thread.push(await measure(() => asked.explain(question)));
}
asked.close();

const page = `# What a question costs the control plane

${began} \`npx node bench/questions.ts --write\`

\`gateway explain\` with ${values.mappings} Mappings, in ms. Made in the thread of the event loop, and in
one of its own, in turns. A pause is the CPU time of the event loop between two turns. The first
question also loads code, and starts the thread.

${toTable(
  '',
  new Map([
    ['the event loop', cellsOf(here)],
    ['a thread', cellsOf(thread)],
    ['the event loop, first', cellsOf([first.here])],
    ['a thread, first', cellsOf([first.thread])],
  ]),
)}`;
console.log(page);
if (values.write) writePage('questions', page);
