import type { z } from 'zod';
import { expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import type { RpcError } from '#shared/rpc/rpc-error.ts';
import { contracts } from '#shared/rpc/methods/index.ts';
import { type Step, createConcurrentSteps } from './step.ts';
import { STEPS } from './conformance-steps.ts';

/** Takes steps: each answer is of its contract's form and has nothing else, or the code that is wanted. */
export async function runSteps(client: GatewayClient, steps: readonly Step[]): Promise<void> {
  const results: Record<string, unknown> = {};
  const take = async ({ method, params, code, lacking }: Step): Promise<void> => {
    const answer = client.request(method, params(results));
    const refused =
      lacking !== undefined &&
      (await answer.then(
        () => null,
        (error: unknown) => error,
      ));
    if (refused) expect(lacking, method).toContain((refused as Partial<RpcError>).code);
    else if (code !== undefined) await expect(answer, method).rejects.toMatchObject({ code });
    else {
      const result = (results[method] = await answer);
      expect(contracts[method].result.parse(result), method).toEqual(result);
    }
  };
  for (const step of steps) await Promise.all(createConcurrentSteps(step).map(take));
}

const INVALID_VALUES: readonly unknown[] = [null, 5, -1.5, true, '', 'no such value', [], {}, [5], { other: 5 }];

/** Gives every param of every method what its contract refuses, and one that there is not. */
export async function runInvalidCalls(client: GatewayClient): Promise<void> {
  for (const { method, params } of new Map(STEPS.map((each) => [each.method, each])).values()) {
    const right = params({});
    const refused = async (change: Record<string, unknown>): Promise<void> => {
      const [name = ''] = Object.keys(change);
      const what = `${method} ${JSON.stringify(change)}`;
      await expect(client.request(method, { ...right, ...change }), what).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringContaining(name) as string,
      });
    };
    for (const [name, schema] of Object.entries((contracts[method].params as z.ZodObject).shape)) {
      for (const value of INVALID_VALUES) if (!(schema as z.ZodType).safeParse(value).success) await refused({ [name]: value });
    }
    await refused({ noSuchParam: 1 });
  }
}
