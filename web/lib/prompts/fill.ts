import { dateTime } from '#lib/i18n/format.ts';

/** `{{name}}`; Open WebUI's kinds after a bar (`{{name | select:…}}`) are read over. */
const VARIABLE = /\{\{\s*([\p{L}\p{N}_][\p{L}\p{N}\p{M}_ -]{0,63}?)\s*(?:\|[^{}]*)?\}\}/gu;

/** Variables that the app fills in; the second names are Open WebUI's. */
const OWN = {
  date: ['date', 'current_date'],
  time: ['time', 'current_time'],
  clipboard: ['clipboard'],
} as const;
export type OwnVariable = keyof typeof OWN;

const ownOf = (name: string): OwnVariable | undefined =>
  (Object.keys(OWN) as OwnVariable[]).find((own) => OWN[own].some((word) => word === name.toLowerCase()));

/** The names of the variables of a prompt's text, each once, in their order. */
export const variablesOf = (text: string): string[] => [...new Set([...text.matchAll(VARIABLE)].map(([, name = '']) => name))];

/** Variables that the person fills in. */
export const askedOf = (text: string): string[] => variablesOf(text).filter((name) => !ownOf(name));

/** Variables that the app fills in. */
export const filledOf = (text: string): string[] => variablesOf(text).filter((name) => ownOf(name));

/** Whether the text wants this of the app. */
export const wants = (text: string, own: OwnVariable): boolean => variablesOf(text).some((name) => ownOf(name) === own);

/** Day and time as a person has them here. */
export const ownValues = (now: Date): { date: string; time: string } => ({
  date: dateTime(now, { dateStyle: 'long' }),
  time: dateTime(now, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
});

/**
 * Puts values into a prompt's text, each for the name that it is asked by; what the app fills in goes by `date`, `time` and `clipboard`. A variable
 * without a value stays as it is, and values are not looked through for variables.
 */
export const fillPrompt = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(VARIABLE, (whole, name: string) => values.get(ownOf(name) ?? name) ?? whole);
