// Vite plugin that keeps Zod's JSON Schema code out of the initial chunk of a worker.
import type { Plugin } from 'vite';

/** Zod's conversion of schemas to JSON Schema: a fifth of the library. */
const JSON_SCHEMA_MODULES = /[\\/]zod[\\/]v4[\\/]core[\\/](?:json-schema-processors|to-json-schema)\.js$/;
const SCHEMAS_MODULE = /[\\/]zod[\\/]v4[\\/]classic[\\/]schemas\.js$/;

/** Stubs for schemas' own methods that create a JSON Schema, which Perch does not call. */
const EMPTY_MODULE = `const absent = () => {
  throw new Error('JSON Schemas are made by z.toJSONSchema alone');
};
const processors = { aggregateChecks: absent };
const createToJSONSchemaMethod = () => absent;
const createStandardJSONSchemaMethod = () => absent;
`;

export const isJsonSchemaModule = (id: string): boolean => JSON_SCHEMA_MODULES.test(id);

/**
 * In worker builds, removes the JSON Schema code from Zod's schemas, so that only modules that call `z.toJSONSchema` load it. That function
 * supports schemas without their own code, as in zod/mini. Throws if another version of Zod is structured differently.
 */
export function createLazyJsonSchemas(): Plugin {
  return {
    name: 'perch-json-schemas-later',
    apply: 'build',
    transform(code, id) {
      if (!SCHEMAS_MODULE.test(id)) return null;
      const rest = code
        .replaceAll(/^import .* from "\.\.\/core\/(?:json-schema-processors|to-json-schema)\.js";$/gm, '')
        .replaceAll(/^ *inst\._zod\.processJSONSchema = \(ctx, json, params\) => processors\.\w+\(inst, ctx, json, params\);$/gm, '');
      const [left] = /processors\.(?!aggregateChecks\()\w+|processJSONSchema|json-schema/.exec(rest) ?? [];
      if (left !== undefined || rest === code) throw new Error(`Zod has changed: its schemas have ${left ?? 'no JSON Schemas'}`);
      return { code: EMPTY_MODULE + rest, map: null };
    },
  };
}
