import { expect, it } from 'vitest';
import { oneObject, oneObjectTypes } from './one-object.ts';

const MODULE = `import * as registry from "../registry.js"
/** @typedef {{}} ChatInputs */

export const chat_new = /** @type {(inputs: ChatInputs) => LocalizedString} */ () => {
	return /** @type {LocalizedString} */ (\`New; chat = \${1}\`)
};

export const chat_count = /** @type {(inputs: CountInputs) => LocalizedString} */ (i) => {const n = registry.plural("en", i?.count, {});
	if (n === "one") return /** @type {LocalizedString} */ (\`\${i?.count} chat\`);
	return /** @type {LocalizedString} */ ("chat_count");
};`;

it('has all messages of a module in one object', async () => {
  const code = oneObject(MODULE.replace(/^import.*/, 'const registry = { plural: (_locale, count) => (count === 1 ? "one" : "other") };'));
  const { default: said } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    default: Record<string, (inputs?: object) => string>;
  };
  expect(Object.keys(said)).toEqual(['chat_new', 'chat_count']);
  expect([said['chat_new']?.(), said['chat_count']?.({ count: 1 })]).toEqual(['New; chat = 1', '1 chat']);
});

it('declares them as one object, beside the types of what they take', () => {
  const declarations = 'export const chat_new: (inputs: ChatInputs) => LocalizedString;\nexport type ChatInputs = {};\n';
  expect(oneObjectTypes(declarations)).toBe(
    'export type ChatInputs = {};\n\ndeclare const said: {\n  chat_new: (inputs: ChatInputs) => LocalizedString;\n};\nexport default said;\n',
  );
});
