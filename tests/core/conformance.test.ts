import { describe, expect } from 'vitest';
import { allows, SCOPES } from '#shared/rpc/contract.ts';
import { METHOD_SCOPES } from '#shared/rpc/method-scopes.ts';
import { contracts } from '#shared/rpc/methods/index.ts';
import { FAILURES } from '../conformance/failures.ts';
import { together } from '../conformance/step.ts';
import { STEPS } from '../conformance/steps.ts';
import { takeSteps, takeWrongSteps } from '../conformance/take.ts';
import { verifies } from '../requirements.ts';
import { testGateway } from '../support/gateway.ts';
import { realBridge } from '../support/real-bridge.ts';

describe('every method, over a memory link', () => {
  verifies('methods/conform', 'answers in the form of its contract', async () => {
    expect(new Set(['connect', ...STEPS.map(({ method }) => method)])).toEqual(new Set(Object.keys(contracts)));
    await using there = await realBridge();
    await using gw = await testGateway({ useGuide: true, bridge: there.bridge });
    await takeSteps((await gw.client()).client, STEPS);
    expect([...gw.faults, ...there.bridge.faults]).toEqual([]);
  });

  verifies('methods/fail', 'with each code that its contract has', async () => {
    const declared = Object.entries(contracts).flatMap(([method, { fails }]) => fails.map((code) => `${method} ${code}`));
    const failing = new Set([...STEPS, ...FAILURES].flatMap(together).map(({ method, code }) => `${method} ${code}`));
    expect(declared.filter((each) => !failing.has(each))).toEqual([]);
    await using there = await realBridge();
    await using gw = await testGateway({ useGuide: true, bridge: there.bridge });
    await takeSteps((await gw.client()).client, FAILURES);
    expect(gw.faults).toEqual([]);
  });

  verifies('methods/refuse', 'refuses a wrong type for each param, and an unknown param', async () => {
    await using gw = await testGateway({ useGuide: true });
    await takeWrongSteps((await gw.client()).client);
    expect(gw.faults).toEqual([]);
  });

  verifies('methods/scopes', 'without the scope that its policy names', async () => {
    await using gw = await testGateway({ useGuide: true });
    for (const scope of [[], ...SCOPES.map((each) => [each])]) {
      const { client } = await gw.client({ scopes: scope });
      for (const { method, params } of STEPS) {
        if (allows(scope, contracts[method].policy.scope) || allows(scope, METHOD_SCOPES[method as keyof typeof METHOD_SCOPES])) continue;
        await expect(client.request(method, params({})), `${method} as ${scope.join()}`).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
      }
    }
  });
});
