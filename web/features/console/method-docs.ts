import type { Contract } from '#shared/rpc/contract.ts';
import { contracts } from '#shared/rpc/methods/index.ts';
import { formatSchemaType } from '#shared/rpc/type-text.ts';
import { z } from '#shared/rpc/zod.ts';
import { createExample } from './schema-example.ts';
import type { MethodDoc } from './method-doc.ts';

/** Methods that remove or replace data permanently. */
const DANGEROUS_METHODS = /^(remove|delete\w*|forget|revoke|clear|reset|restore|import|purge|wipe)$/;

/** Documentation of all methods from their contracts, which are large: only the console loads this module. */
export function getMethodDocs(): MethodDoc[] {
  return Object.entries<Contract>(contracts)
    .filter(([name]) => name !== 'connect')
    .map(([name, { params, result, docs, policy, emits, fails }]) => {
      const schema = z.toJSONSchema(params, { io: 'input', unrepresentable: 'any', reused: 'inline' });
      return {
        ...{ name, docs, emits, fails, schema },
        scope: policy.scope,
        dangerous: DANGEROUS_METHODS.test(name.slice(name.indexOf('.') + 1)),
        params: formatSchemaType(params, 'input'),
        result: formatSchemaType(result, 'output'),
        example: JSON.stringify(createExample(schema), null, 2),
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
