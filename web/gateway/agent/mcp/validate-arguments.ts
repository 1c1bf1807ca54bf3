import { truncateText } from '#shared/truncate-text.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { ToolSpec } from '../../providers/provider.ts';
import { isObject } from '#shared/merge-patch.ts';

/**
 * Throws `INVALID_PARAMS` if the server's schema clearly does not accept the arguments: a required property is missing, has another type,
 * or has an unknown name. The server checks the rest: evaluating its patterns here could keep this worker busy forever.
 */
export function validateArguments(name: string, schema: ToolSpec['schema'], args: Readonly<Record<string, unknown>>): void {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'].filter((key) => typeof key === 'string') : [];
  const problems = [
    ...required.filter((key) => !Object.hasOwn(args, key)).map((key) => `\`${key}\` is required`),
    ...Object.entries(args).flatMap(([key, value]) => {
      const propertySchema = Object.hasOwn(properties, key) ? properties[key] : undefined;
      if (propertySchema !== undefined)
        return hasType(isObject(propertySchema) ? propertySchema['type'] : undefined, value)
          ? []
          : [`\`${truncateText(key)}\` has the wrong type`];
      return schema['additionalProperties'] === false && !isObject(schema['patternProperties'])
        ? [`\`${truncateText(key)}\` is unknown`]
        : [];
    }),
  ];
  if (problems.length > 0) throw new RpcError('INVALID_PARAMS', `Invalid arguments for ${name}: ${problems.slice(0, 20).join('; ')}.`);
}

/** Whether a value has a JSON Schema type, or one of several; true if no type is given. */
function hasType(type: unknown, value: unknown): boolean {
  const types = Array.isArray(type) ? type : [type];
  return types.some((type) => {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'number':
        return typeof value === type;
      case 'integer':
        return Number.isInteger(value);
      case 'object':
        return isObject(value);
      case 'array':
        return Array.isArray(value);
      case 'null':
        return value === null;
      default:
        return true;
    }
  });
}
