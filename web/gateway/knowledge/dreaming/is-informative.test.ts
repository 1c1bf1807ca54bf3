import { expect, test } from 'vitest';
import { isInformative } from './is-informative.ts';

test('sentences say something; questions, a word or two, and pieces of JSON do not', () => {
  expect(isInformative('The herons are counted every year in March.')).toBe(true);
  expect(isInformative('Her words were: “trees, reeds and nests”.')).toBe(true);
  expect(isInformative('What is the weather in Trondheim?')).toBe(false);
  expect(isInformative('Thank you')).toBe(false);
  expect(isInformative('{"error":"the run ended before the tool did"}')).toBe(false);
  expect(isInformative('(Demo data)"},{"id":"s2","status":"running","description":"Pick two calm mornings"')).toBe(false);
  expect(isInformative('"steps": [')).toBe(false);
});
