/** `{{name}}`; Open WebUI's kinds after a bar (`{{name | select:…}}`) are read over. */
const VARIABLE = /\{\{\s*([\p{L}\p{N}_][\p{L}\p{N}\p{M}_ -]{0,63}?)\s*(?:\|[^{}]*)?\}\}/gu;

/** Variables that the app fills in; the second names are Open WebUI's. */
const OWN = {
  date: ['date', 'current_date'],
  time: ['time', 'current_time'],
  clipboard: ['clipboard'],
} as const;
export type OwnVariable = keyof typeof OWN;

const findOwnVariable = (name: string): OwnVariable | undefined =>
  (Object.keys(OWN) as OwnVariable[]).find((own) => OWN[own].some((word) => word === name.toLowerCase()));

/** The names of the variables of a prompt's text, each once, in their order. */
export const findVariables = (text: string): string[] => [...new Set([...text.matchAll(VARIABLE)].map(([, name = '']) => name))];

/** Variables that the person fills in. */
export const findAskedVariables = (text: string): string[] => findVariables(text).filter((name) => !findOwnVariable(name));

/** Variables that the app fills in. */
export const findFilledVariables = (text: string): string[] => findVariables(text).filter((name) => findOwnVariable(name));

/** Whether the text has this variable of the app. */
export const wants = (text: string, own: OwnVariable): boolean => findVariables(text).some((name) => findOwnVariable(name) === own);

/**
 * Puts values into a prompt's text, each for the name that it is asked by; what the app fills in goes by `date`, `time` and `clipboard`. A variable
 * without a value stays as it is, and values are not looked through for variables.
 */
export const fillPrompt = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(VARIABLE, (whole, name: string) => values.get(findOwnVariable(name) ?? name) ?? whole);
