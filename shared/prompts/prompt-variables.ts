/** `{{name}}`; Open WebUI's kinds after a bar (`{{name | select:…}}`) are ignored. */
const VARIABLE_PATTERN = /\{\{\s*([\p{L}\p{N}_][\p{L}\p{N}\p{M}_ -]{0,63}?)\s*(?:\|[^{}]*)?\}\}/gu;

/** Variables that the app fills in; the second names are Open WebUI's. */
const APP_VARIABLES = {
  date: ['date', 'current_date'],
  time: ['time', 'current_time'],
  clipboard: ['clipboard'],
} as const;
type AppVariable = keyof typeof APP_VARIABLES;

const findAppVariable = (name: string): AppVariable | undefined =>
  (Object.keys(APP_VARIABLES) as AppVariable[]).find((variable) => APP_VARIABLES[variable].some((word) => word === name.toLowerCase()));

/** Returns the unique names of a prompt's variables, in order of appearance. */
export const findVariables = (text: string): string[] => [...new Set([...text.matchAll(VARIABLE_PATTERN)].map(([, name = '']) => name))];

/** Variables that the person fills in. */
export const findUserVariables = (text: string): string[] => findVariables(text).filter((name) => !findAppVariable(name));

/** Variables that the app fills in. */
export const findAppVariables = (text: string): string[] => findVariables(text).filter((name) => findAppVariable(name));

/** Whether the text has this variable of the app. */
export const hasAppVariable = (text: string, variable: AppVariable): boolean =>
  findVariables(text).some((name) => findAppVariable(name) === variable);

/**
 * Replaces variables in a prompt's text by values. Values of the app's own variables are named `date`, `time` and `clipboard`. A variable
 * without a value stays unchanged, and variables within values are not replaced.
 */
export const fillPrompt = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(VARIABLE_PATTERN, (placeholder, name: string) => values.get(findAppVariable(name) ?? name) ?? placeholder);
