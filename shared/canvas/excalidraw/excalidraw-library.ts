import { z } from '../../rpc/zod.ts';
import { estimateWidth, type MeasureText } from '../marks.ts';
import { LIMITS } from '../shape-fields.ts';
import { type LibraryItem, MAX_LIBRARY_ITEMS } from '../shape-library.ts';
import { ExcalidrawFileError, parseJson } from './excalidraw-elements.ts';
import { toElements } from './excalidraw-export.ts';
import { toShapes } from './excalidraw-import.ts';

type NamedShapes = Omit<LibraryItem, 'id'>;

const itemSchema = z.object({ name: z.string().max(LIMITS.textLength).default(''), elements: z.unknown().optional() });
const fileSchema = z.object({
  type: z.literal('excalidrawlib'),
  libraryItems: z.array(itemSchema).max(MAX_LIBRARY_ITEMS).optional(),
  /** Version 1: lists of elements without names. */
  library: z.array(z.unknown()).max(MAX_LIBRARY_ITEMS).optional(),
});

/** Reads the items of a `.excalidrawlib` file; those without shapes are left out. Throws an ExcalidrawFileError. */
export function parseExcalidrawLibrary(
  json: string,
  measure: MeasureText = estimateWidth,
): { items: NamedShapes[]; simplified: number; leftOut: number } {
  const { success, data } = fileSchema.safeParse(parseJson(json));
  if (!success) throw new ExcalidrawFileError('The file is not an Excalidraw library.');
  const rawItems = data.libraryItems ?? (data.library ?? []).map((elements) => ({ name: '', elements }));
  const conversions = rawItems.map(({ name, elements }) => ({
    name: name.trim().slice(0, LIMITS.labelLength),
    ...toShapes(elements, undefined, measure),
  }));
  if (conversions.reduce((count, { shapes }) => count + shapes.length, 0) > LIMITS.shapes)
    throw new ExcalidrawFileError(`The library is too large. The maximum is ${LIMITS.shapes} shapes.`);
  const items = conversions.filter(({ shapes }) => shapes.length > 0).map(({ name, shapes }) => ({ name, shapes }));
  if (items.length === 0) throw new ExcalidrawFileError('The library is empty.');
  const sum = (key: 'simplified' | 'leftOut'): number => conversions.reduce((total, each) => total + each[key], 0);
  return { items, simplified: sum('simplified'), leftOut: sum('leftOut') };
}

/** Serializes items as a `.excalidrawlib` file. Pictures are left out: the format has none. */
export function toExcalidrawLibrary(items: readonly NamedShapes[], measure: MeasureText = estimateWidth): string {
  const libraryItems = items.map(({ name, shapes }, index) => ({
    id: `item-${index + 1}`,
    status: 'unpublished',
    created: 0,
    name,
    elements: toElements(
      shapes.filter(({ kind }) => kind !== 'image'),
      new Map(),
      measure,
    ).elements,
  }));
  return JSON.stringify({ type: 'excalidrawlib', version: 2, source: 'perch', libraryItems });
}
