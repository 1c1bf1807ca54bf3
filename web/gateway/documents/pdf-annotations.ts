import { z } from '#shared/rpc/zod.ts';

/** Form fields and annotations of a page, as given by pdf.js. */
const annotation = z.object({
  subtype: z.string(),
  hidden: z.boolean().catch(false),
  annotationFlags: z.number().catch(0),
  fieldType: z.string().optional().catch(undefined),
  fieldName: z.string().catch(''),
  alternativeText: z.string().catch(''),
  fieldValue: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .catch(undefined),
  options: z.array(z.object({ exportValue: z.string(), displayValue: z.string() })).catch([]),
  password: z.boolean().catch(false),
  checkBox: z.boolean().catch(false),
  radioButton: z.boolean().catch(false),
  exportValue: z.string().optional().catch(undefined),
  buttonValue: z.string().optional().catch(undefined),
  titleObj: z.object({ str: z.string() }).catch({ str: '' }),
  contentsObj: z.object({ str: z.string() }).catch({ str: '' }),
  textContent: z.array(z.string()).catch([]),
});
type Annotation = z.infer<typeof annotation>;

const MAX_ANNOTATIONS = 5_000;
const MAX_FIELD_CHARS = 10_000;
/** Flags of an annotation that is hidden, or not shown on screen (ISO 32000-2, table 167). */
const HIDDEN_FLAGS = 0b10_0010;
/** Types whose text describes something else. */
const SKIPPED_SUBTYPES = new Set(['Link', 'Popup', 'Widget', 'Movie', 'Screen', 'Sound', '3D', 'RichMedia']);

/** Filled form fields and notes of a page; empty if there are none. */
export function formatAnnotations(annotations: readonly unknown[]): string {
  const visible = annotations
    .slice(0, MAX_ANNOTATIONS)
    .flatMap((each) => annotation.safeParse(each).data ?? [])
    .filter(({ hidden, annotationFlags }) => !hidden && (annotationFlags & HIDDEN_FLAGS) === 0);
  const fields = new Set(visible.flatMap((each) => formatField(each) ?? []));
  const notes = new Set(visible.flatMap((each) => formatNote(each) ?? []));
  return [formatList('Form fields', fields), formatList('Notes', notes)].filter((part) => part !== '').join('\n\n');
}

function formatField({ subtype, ...field }: Annotation): string | undefined {
  if (subtype !== 'Widget' || field.password) return undefined;
  const name = field.alternativeText.trim() || field.fieldName.trim();
  const value = toSingleLine(readFieldValue(field));
  return value === '' ? undefined : name === '' ? value : `${toSingleLine(name)}: ${value}`;
}

function readFieldValue({ fieldValue: value, ...field }: Omit<Annotation, 'subtype'>): string {
  if (value === undefined) return '';
  const values = Array.isArray(value) ? value : [value];
  if (field.checkBox) return values[0] !== 'Off' && values[0] === field.exportValue ? '☑' : '';
  if (field.radioButton) return values[0] !== 'Off' && values[0] === field.buttonValue ? (values[0] ?? '') : '';
  if (field.fieldType === 'Ch')
    return values.map((value) => field.options.find(({ exportValue }) => exportValue === value)?.displayValue ?? value).join(', ');
  return field.fieldType === 'Tx' ? values.join('\n') : '';
}

function formatNote({ subtype, contentsObj, textContent, titleObj }: Annotation): string | undefined {
  if (SKIPPED_SUBTYPES.has(subtype)) return undefined;
  const text = toSingleLine(contentsObj.str.trim() || textContent.join('\n'));
  // Text typed onto the page needs no author.
  const author = subtype === 'FreeText' ? '' : toSingleLine(titleObj.str);
  return text === '' ? undefined : author === '' ? text : `${author}: ${text}`;
}

const toSingleLine = (text: string): string =>
  text
    .slice(0, MAX_FIELD_CHARS)
    .trim()
    .replaceAll(/\s*[\r\n]+\s*/g, ' / ');

const formatList = (title: string, items: ReadonlySet<string>): string =>
  items.size === 0 ? '' : `${title}:\n${[...items].map((item) => `- ${item}`).join('\n')}`;
