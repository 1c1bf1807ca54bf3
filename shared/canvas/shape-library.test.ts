import { expect, test } from 'vitest';
import { libraryFromJson, libraryToJson } from './shape-library.ts';
import { createSampleShape, KIND_NAMES } from './shape-samples.ts';

test('a library survives a round trip, with shapes of every kind', () => {
  const items = [{ id: 'one', name: 'All', shapes: KIND_NAMES.map((kind) => createSampleShape(kind)) }];
  expect(libraryFromJson(libraryToJson(items))).toEqual(items);
});

test('damaged libraries are refused', () => {
  const item = { id: 'one', name: 'Box', shapes: [createSampleShape('rect')] };
  const damaged: [string, RegExp][] = [
    ['{', /not valid JSON/],
    ['null', /is damaged/],
    [JSON.stringify({ format: 'perch-library', version: 2, items: [] }), /version/],
    [libraryToJson([item, item]), /duplicate ids/],
    [libraryToJson([{ ...item, shapes: [] }]), /items\.0\.shapes/],
    [libraryToJson([item]).replace('"x":10', '"x":"left"'), /items\.0\.shapes\.0\.x/],
  ];
  for (const [text, message] of damaged) expect(() => libraryFromJson(text), text).toThrow(message);
});
