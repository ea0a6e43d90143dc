import { after, before, beforeEach, type TestContext } from 'node:test';
import { type HostileProvider, startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { grantCodes } from './code-provider.ts';
import { TestBrowser } from './test-browser.ts';
import { openTestGateway, type TestGateway, type TestGatewayOptions } from './test-gateway.ts';

export type World = {
  readonly provider: () => HostileProvider;
  readonly open: (
    t: TestContext,
    options?: Partial<TestGatewayOptions>,
  ) => Promise<{ readonly gateway: TestGateway; readonly browser: TestBrowser }>;
};

/** One provider for the tests of a file, honest at the beginning of each. */
export function useWorld(): World {
  let provider: HostileProvider | undefined;
  const known = () => {
    if (provider === undefined) throw new Error('only within tests');
    return provider;
  };
  before(async () => {
    provider = await startHostileProvider();
  });
  after(() => known().close());
  beforeEach(() => {
    known().reset();
    grantCodes(known());
  });
  return {
    provider: known,
    open: async (t, options) => {
      const gateway = await openTestGateway(t, { issuer: known().issuer, ...options });
      return { gateway, browser: new TestBrowser(gateway) };
    },
  };
}
