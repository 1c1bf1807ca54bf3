/** Negations of some languages, lower case. */
const NEGATIONS = new Set(
  `not no never neither nor none nothing nobody without cannot doesnt didnt isnt arent wasnt werent shouldnt couldnt hasnt havent hadnt
nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder
pas jamais aucun aucune sans rien nunca ningún ninguna ninguno nada sin tampoco non nessun nessuna senza não nenhum nenhuma sem
niet geen nooit zonder ikke ingen inte inga utan не нет нельзя без ни никогда`.split(/\s+/),
);
const NEGATION_SUFFIX = /(?:n['’]t)(?!\p{L})/giu;
const CJK_NEGATION = /[不没無非未]|ない|ません|ず(?=[、。])|않|없|아니/u;

/** Words with their opposites, in some languages: `words | opposites`. */
const OPPOSITES = `
rise rises rose risen rising increase increases increased increasing grow grows grew grown growing gain gained climbed climb stieg steigen steigt gestiegen wuchs zugenommen erhöht augmenté augmente aumentó aumenta | fall falls fell fallen falling decrease decreases decreased decreasing decline declines declined declining drop drops dropped shrank shrink shrunk lost sank sinkt sinken gesunken abgenommen verringert baissé diminué diminue bajó disminuyó
open opens opened geöffnet offen ouvert ouverte abierto | closed closes close shut geschlossen fermé fermée cerrado
allowed allow allows permitted permit permits may can erlaubt gestattet zulässig autorisé permitido | forbidden forbid forbids prohibited prohibit prohibits banned ban bans disallowed verboten untersagt interdit prohibido
before prior vor avant antes | after following nach après después
more mehr plus más | less fewer weniger moins menos
maximum max most höchstens maximal | minimum min least mindestens minimal
above over exceed exceeds über oberhalb | below under unter unterhalb
required require requires mandatory compulsory must obligatory erforderlich vorgeschrieben pflicht obligatoire obligatorio | optional voluntary freiwillig optionnel facultatif opcional
north northern norden nördlich nord | south southern süden südlich sud
east eastern osten östlich | west western westen westlich ouest
left links gauche | right rechts droite
first erste erster ersten erstes premier première primero primera | last letzte letzter letzten letztes dernier dernière último última
win wins won winner gewann gewonnen | lose loses loser verlor verloren
buy buys bought acquired kaufte gekauft | sold sell sells verkaufte verkauft
safe sicher | unsafe dangerous hazardous toxic poisonous gefährlich giftig
include includes included including enthalten inklusive inclus | exclude excludes excluded excluding ausgenommen exclu
higher highest larger largest bigger biggest longer longest taller tallest faster fastest heavier heaviest größer größte höher höchste | lower lowest smaller smallest shorter shortest slower slowest lighter lightest kleiner kleinste niedriger
early earlier earliest früher | late later latest später
start starts started begin begins began begun beginnt begann commence | end ends ended finish finishes finished stop stops stopped endet endete
accept accepts accepted receive receives received erhielt angenommen | decline declines declined refuse refuses refused reject rejects rejected lehnte abgelehnt
add adds added introduce introduces introduced | remove removes removed removing delete deletes deleted
success successful succeeded passed erfolgreich | failure failed fail unsuccessful gescheitert
indoor indoors drinnen | outdoor outdoors draußen
hot warm heiß | cold kalt
day daytime | night nighttime nachts
male men | female women
free gratis kostenlos gratuit | paid kostenpflichtig payant
always immer toujours siempre | sometimes occasionally manchmal parfois
all every each alle jeder jede tous | some einige manche certains
able possible möglich | unable impossible unmöglich
enabled enable on | disabled disable off
public öffentlich | private privat
import imports imported | export exports exported
`;

/** The pairs of a word, and whether it stands on their second side. */
const opposites = new Map<string, { pair: number; isOpposite: boolean }[]>();
for (const [pair, line] of OPPOSITES.trim().split('\n').entries()) {
  for (const [side, words] of line.split(' | ').entries()) {
    for (const word of words.split(' ')) opposites.set(word, [...(opposites.get(word) ?? []), { pair, isOpposite: side === 1 }]);
  }
}

/** Whether a clause is negated, and the words with opposites in it: each pair with the sides on which it stands there. */
export interface Polarity {
  isNegated: boolean;
  sides: ReadonlyMap<number, ReadonlySet<boolean>>;
}

/** "No: …" answers a question, and does not negate what follows. */
const LEADING_ANSWER = /^\s*(?:no|nein|non|não|нет)\s*[,:.–—-]/u;

export function readPolarity(text: string): Polarity {
  const lower = text.toLowerCase().replace(LEADING_ANSWER, '');
  let negations = [...lower.matchAll(NEGATION_SUFFIX)].length;
  const sides = new Map<number, Set<boolean>>();
  for (const [word] of lower.replace(NEGATION_SUFFIX, ' ').matchAll(/\p{L}+/gu)) {
    if (NEGATIONS.has(word)) negations++;
    for (const { pair, isOpposite } of opposites.get(word) ?? []) sides.set(pair, (sides.get(pair) ?? new Set()).add(isOpposite));
  }
  if (CJK_NEGATION.test(lower)) negations++;
  return { isNegated: negations % 2 === 1, sides };
}

/**
 * Whether the clauses of a source do not contradict a claim: the same negation, or an opposite instead of it. If the claim has several
 * clauses, their negations are compared together.
 */
export function isSamePolarity(claim: Polarity, clauses: readonly Polarity[], isCompound: boolean): boolean {
  const undecided: Polarity[] = [];
  for (const source of clauses) {
    const sides = compareSides(claim, source);
    if (sides === false) return false;
    if (sides === undefined) undecided.push(source);
  }
  if (undecided.every(({ isNegated }) => isNegated === claim.isNegated)) return true;
  return isCompound && clauses.filter(({ isNegated }) => isNegated).length % 2 === (claim.isNegated ? 1 : 0);
}

/** Whether words with opposites agree; undefined if there are none in common. */
function compareSides(claim: Polarity, source: Polarity): boolean | undefined {
  let isDecided = false;
  for (const [pair, claimed] of claim.sides) {
    const stated = source.sides.get(pair);
    if (!stated || claimed.size > 1 || stated.size > 1) continue;
    isDecided = true;
    const [isClaimOpposite = false] = claimed;
    const [isSourceOpposite = false] = stated;
    if ((isClaimOpposite !== claim.isNegated) !== (isSourceOpposite !== source.isNegated)) return false;
  }
  return isDecided || undefined;
}

const PASSIVE = /\s(?:by|von|vom|durch|par|por|da|door|av|af)\s/iu;

/** Whether a clause names who did something after it. */
export const isPassive = (text: string): boolean => PASSIVE.test(text);
