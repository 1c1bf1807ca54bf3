import { expect, test } from 'vitest';
import { saysSomething } from './says-something.ts';

test('sentences say something; questions, a word or two, and pieces of JSON do not', () => {
  expect(saysSomething('The herons are counted every year in March.')).toBe(true);
  expect(saysSomething('Her words were: “trees, reeds and nests”.')).toBe(true);
  expect(saysSomething('What is the weather in Trondheim?')).toBe(false);
  expect(saysSomething('Thank you')).toBe(false);
  expect(saysSomething('{"error":"the run ended before the tool did"}')).toBe(false);
  expect(saysSomething('(Demo data)"},{"id":"s2","status":"running","description":"Pick two calm mornings"')).toBe(false);
  expect(saysSomething('"steps": [')).toBe(false);
});
