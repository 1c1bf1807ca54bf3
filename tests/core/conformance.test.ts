import { describe, expect } from 'vitest';
import { allowsScope, SCOPES } from '#shared/rpc/contract.ts';
import { METHOD_SCOPES } from '#shared/rpc/method-scopes.ts';
import { contracts } from '#shared/rpc/methods/index.ts';
import { FAILURE_STEPS } from '../conformance/failure-steps.ts';
import { createConcurrentSteps } from '../conformance/step.ts';
import { STEPS } from '../conformance/conformance-steps.ts';
import { runSteps, runInvalidCalls } from '../conformance/run-steps.ts';
import { verifies } from '../requirements.ts';
import { createTestGateway } from '../support/test-gateway.ts';
import { createRealBridge } from '../support/real-bridge.ts';

describe('every method, over a memory link', () => {
  verifies('methods/conform', 'answers in the form of its contract', async () => {
    expect(new Set(['connect', ...STEPS.map(({ method }) => method)])).toEqual(new Set(Object.keys(contracts)));
    await using there = await createRealBridge();
    await using gw = await createTestGateway({ useGuide: true, bridge: there.bridge });
    await runSteps((await gw.client()).client, STEPS);
    expect([...gw.faults, ...there.bridge.faults]).toEqual([]);
  });

  verifies('methods/fail', 'with each code that its contract has', async () => {
    const declared = Object.entries(contracts).flatMap(([method, { fails }]) => fails.map((code) => `${method} ${code}`));
    const failing = new Set([...STEPS, ...FAILURE_STEPS].flatMap(createConcurrentSteps).map(({ method, code }) => `${method} ${code}`));
    expect(declared.filter((each) => !failing.has(each))).toEqual([]);
    await using there = await createRealBridge();
    await using gw = await createTestGateway({ useGuide: true, bridge: there.bridge });
    await runSteps((await gw.client()).client, FAILURE_STEPS);
    expect(gw.faults).toEqual([]);
  });

  verifies('methods/refuse', 'refuses a wrong type for each param, and an unknown param', async () => {
    await using gw = await createTestGateway({ useGuide: true });
    await runInvalidCalls((await gw.client()).client);
    expect(gw.faults).toEqual([]);
  });

  verifies('methods/scopes', 'without the scope that its policy names', async () => {
    await using gw = await createTestGateway({ useGuide: true });
    for (const scope of [[], ...SCOPES.map((each) => [each])]) {
      const { client } = await gw.client({ scopes: scope });
      for (const { method, params } of STEPS) {
        if (allowsScope(scope, contracts[method].policy.scope) || allowsScope(scope, METHOD_SCOPES[method as keyof typeof METHOD_SCOPES]))
          continue;
        await expect(client.request(method, params({})), `${method} as ${scope.join()}`).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
      }
    }
  });
});
