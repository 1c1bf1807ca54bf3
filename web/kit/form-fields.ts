import { toPrintable } from '#shared/printable.ts';

/** A field of a form, from the schema of an MCP server. */
export interface FormField {
  name: string;
  label: string;
  about: string;
  required: boolean;
  kind: 'text' | 'number' | 'switch' | 'choice' | 'choices';
  /** Input type of a text: `text`, `email`, `url`, `date` or `datetime-local`. */
  input: string;
  options: { value: string; label: string }[];
  initial: FieldValue;
  /** Bounds of a number, or of the length of a text. */
  min?: number;
  max?: number;
  isInteger: boolean;
}

export type FieldValue = string | number | boolean | string[] | null;

const INPUT_TYPES: Readonly<Record<string, string>> = { email: 'email', uri: 'url', date: 'date', 'date-time': 'datetime-local' };

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const toText = (value: unknown): string => (typeof value === 'string' ? toPrintable(value) : '');
const toNumber = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);

/** The fields for a JSON Schema of an object of strings, numbers, booleans and enums; other properties are omitted. */
export function toFormFields(schema: Json): FormField[] {
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties).flatMap(([name, property]) =>
    isObject(property) ? (toFormField(name, property, required.has(name)) ?? []) : [],
  );
}

function toFormField(name: string, property: Json, required: boolean): FormField | undefined {
  const common = {
    name,
    label: toText(property['title']) || toPrintable(name),
    about: toText(property['description']),
    required,
    input: 'text',
    options: [],
    isInteger: false,
  };
  const initial = property['default'];
  const options = toOptions(property);
  if (options.length > 0) return { ...common, kind: 'choice', options, initial: typeof initial === 'string' ? initial : '' };
  switch (property['type']) {
    case 'string': {
      const bounds = toBounds(property['minLength'], property['maxLength']);
      return {
        ...common,
        kind: 'text',
        input: INPUT_TYPES[toText(property['format'])] ?? 'text',
        initial: typeof initial === 'string' ? initial : '',
        ...bounds,
      };
    }
    case 'number':
    case 'integer': {
      const bounds = toBounds(property['minimum'], property['maximum']);
      return { ...common, kind: 'number', isInteger: property['type'] === 'integer', initial: toNumber(initial) ?? null, ...bounds };
    }
    case 'boolean':
      return { ...common, kind: 'switch', initial: initial === true };
    case 'array': {
      const several = isObject(property['items']) ? toOptions(property['items']) : [];
      const initialValues = Array.isArray(initial) ? initial.filter((each) => typeof each === 'string') : [];
      return several.length > 0 ? { ...common, kind: 'choices', options: several, initial: initialValues } : undefined;
    }
    default:
      return undefined;
  }
}

function toBounds(lower: unknown, upper: unknown): { min?: number; max?: number } {
  const [min, max] = [toNumber(lower), toNumber(upper)];
  return { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
}

/** Choices are a list of values with optional names, or a list of constants with titles. */
function toOptions(property: Json): FormField['options'] {
  const titled = property['oneOf'] ?? property['anyOf'];
  if (Array.isArray(titled)) {
    return titled.flatMap((each) => {
      const value = isObject(each) ? each['const'] : undefined;
      return isObject(each) && typeof value === 'string' ? { value, label: toText(each['title']) || toPrintable(value) } : [];
    });
  }
  const values = property['enum'];
  const names = property['enumNames'];
  if (!Array.isArray(values)) return [];
  return values.flatMap((value, at) =>
    typeof value === 'string' ? { value, label: (Array.isArray(names) ? toText(names[at]) : '') || toPrintable(value) } : [],
  );
}

/** The content of the form as the server expects it, without empty fields. */
export function toFormContent(
  fields: readonly FormField[],
  values: Readonly<Record<string, FieldValue>>,
): Record<string, Exclude<FieldValue, null>> {
  const content: Record<string, Exclude<FieldValue, null>> = {};
  for (const { name, kind, required, input } of fields) {
    const value = values[name] ?? null;
    if (value === null || (value === '' && !(required && kind === 'text'))) continue;
    content[name] = input === 'datetime-local' && typeof value === 'string' ? new Date(value).toISOString() : value;
  }
  return content;
}
