import { pathOf, TEST_TOOLS } from '../test-tools.ts';

/** A program that tests run. `skip` says why those tests are skipped, or is false. */
export type FoundTool = { readonly path: string; readonly skip: string | false };

/** Finds the program of this command, one of TEST_TOOLS, or its substitute. */
export function findTool(command: string): FoundTool {
  const tool = TEST_TOOLS.find(each => each.command === command);
  if (tool === undefined) throw new Error(`${command} is not in launcher/test-tools.ts`);
  const path = pathOf(tool);
  const why =
    path === undefined && `there is no "${command}": npm test installs it, or says why it cannot`;
  return { path: path ?? '', skip: process.env[`GATEWAY_SKIP_${tool.name}`] ?? why };
}
