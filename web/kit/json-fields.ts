import { toPrintable } from '#shared/printable.ts';
import { formatType } from '#shared/rpc/json-type.ts';
import { toFormContent, toFormFields, type FieldValue, type FormField } from './form-fields.ts';
import { m } from '#app/i18n/messages.ts';

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** An argument of a tool, from its JSON Schema. */
export interface ToolArgument {
  name: string;
  /** Type in readable notation: `string`, `integer 1–10`, `("a" | "b")[]`. */
  type: string;
  about: string;
  required: boolean;
}

/** The arguments in the order of the schema. */
export function getToolArguments(schema: Json): ToolArgument[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties).map(([name, property]) => ({
    name,
    type: toPrintable(isObject(property) ? formatType(property, '') : 'any'),
    about: isObject(property) && typeof property['description'] === 'string' ? toPrintable(property['description']) : '',
    required: required.includes(name),
  }));
}

/** Form to try a tool: simple fields, and `rest`, the arguments that are entered as JSON. */
interface ToolForm {
  fields: FormField[];
  rest: ToolArgument[];
}

/** Creates the form for the JSON Schema of a tool. */
export function toToolForm(schema: Json): ToolForm {
  const fields = toFormFields(schema);
  const fieldNames = new Set(fields.map(({ name }) => name));
  return { fields, rest: getToolArguments(schema).filter(({ name }) => !fieldNames.has(name)) };
}

/**
 * Converts the form to arguments. `jsonTexts` is the JSON of arguments without a field. Empty fields and unchanged switches and lists are
 * omitted if they are optional. Throws a sentence if a value is invalid JSON.
 */
export function toArguments(
  { fields, rest }: ToolForm,
  values: Readonly<Record<string, FieldValue>>,
  jsonTexts: Readonly<Record<string, string>>,
): Json {
  const args: Json = toFormContent(fields, values);
  const isUnchanged = (value: unknown, initial: FieldValue): boolean => JSON.stringify(value) === JSON.stringify(initial);
  for (const { name, kind, required, initial } of fields)
    if ((kind === 'switch' || kind === 'choices') && !required && isUnchanged(args[name], initial)) delete args[name];
  for (const { name, required } of rest) {
    const text = jsonTexts[name]?.trim() ?? '';
    if (text === '' && !required) continue;
    try {
      args[name] = JSON.parse(text);
    } catch {
      throw new Error(text === '' ? m.tools_missing({ name }) : m.tools_no_json({ name }));
    }
  }
  return args;
}

const TYPE_CHECKS: Readonly<Record<FormField['kind'], (value: unknown) => value is FieldValue>> = {
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  switch: (value) => typeof value === 'boolean',
  choice: (value) => typeof value === 'string',
  choices: (value): value is string[] => Array.isArray(value) && value.every((each) => typeof each === 'string'),
};

/** Converts arguments to the values of the form. Undefined if one of them has no field. */
export function toFormValues(
  { fields, rest }: ToolForm,
  args: unknown,
): { values: Record<string, FieldValue>; written: Record<string, string> } | undefined {
  if (!isObject(args)) return undefined;
  const values: Record<string, FieldValue> = Object.fromEntries(fields.map(({ name, initial }) => [name, initial]));
  const written: Record<string, string> = {};
  for (const [name, value] of Object.entries(args)) {
    const field = fields.find((each) => each.name === name);
    if (field && TYPE_CHECKS[field.kind](value) && field.input !== 'datetime-local') values[name] = value;
    else if (rest.some((each) => each.name === name)) written[name] = JSON.stringify(value);
    else return undefined;
  }
  return { values, written };
}
