// Vite plugin that keeps Zod's JSON Schema code out of the initial chunk of a worker.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';

/** Zod's conversion of schemas to JSON Schema: a fifth of the library. */
const JSON_SCHEMA_MODULES = /[\\/]zod[\\/]v4[\\/]core[\\/](?:json-schema-processors|to-json-schema)\.js$/;
const JSON_SCHEMA_SOURCE = /^\.\.\/core\/(?:json-schema-processors|to-json-schema)\.js$/;
const SCHEMAS_MODULE = /[\\/]zod[\\/]v4[\\/]classic[\\/]schemas\.js$/;
const STUB_ID = '\0perch-json-schema-stub';
const PROCESSORS_FILE = join(dirname(createRequire(import.meta.url).resolve('zod/package.json')), 'v4/core/json-schema-processors.js');

/**
 * A module with the exports that Zod's schemas import of the conversion. It converts a schema by the table that `z.toJSONSchema` passes.
 * Schemas' own methods that create a JSON Schema throw.
 */
async function createStub(): Promise<string> {
  const processors = Object.keys((await import(pathToFileURL(PROCESSORS_FILE).href)) as object).filter((name) =>
    name.endsWith('Processor'),
  );
  return `const convert = (schema, context, json, params) => context.processors[schema._zod.def.type](schema, context, json, params);
const absent = () => {
  throw new Error('JSON Schemas are made by z.toJSONSchema alone');
};
const createAbsent = () => absent;
export { ${processors.map((name) => `convert as ${name}`).join(', ')} };
export { absent as aggregateChecks, createAbsent as createToJSONSchemaMethod, createAbsent as createStandardJSONSchemaMethod };
`;
}

export const isJsonSchemaModule = (id: string): boolean => JSON_SCHEMA_MODULES.test(id);

/**
 * In worker builds, gives Zod's schemas a stub instead of the JSON Schema code, so that only modules that call `z.toJSONSchema` load it.
 * That function brings the converters of all schemas itself, as for zod/mini.
 */
export function createLazyJsonSchemas(): Plugin {
  return {
    name: 'perch-json-schemas-later',
    apply: 'build',
    enforce: 'pre',
    resolveId: (source, importer = '') => (JSON_SCHEMA_SOURCE.test(source) && SCHEMAS_MODULE.test(importer) ? STUB_ID : null),
    load: (id) => (id === STUB_ID ? createStub() : null),
  };
}
