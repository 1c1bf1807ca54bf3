import type { Concept } from '../../search/concepts.ts';
import { splitWords, toTerm } from '../../search/text/analyze.ts';
import type { MemoryIndex } from './memory-index.ts';
import { parseSpoken } from './spoken.ts';

/** Words for people and animals that are introduced by name once and then called by either. */
const RELATIONS = new Set(
  `mother mum mom father dad sister brother wife husband partner girlfriend boyfriend fiancé fiancée son daughter niece nephew aunt uncle
  cousin grandmother grandma grandfather grandpa boss manager colleague neighbour neighbor roommate flatmate landlord landlady teacher coach
  doctor dentist therapist vet lawyer accountant dog puppy cat kitten horse parrot rabbit hamster
  mutter mama vater papa schwester bruder frau mann partnerin freund freundin sohn tochter nichte neffe tante onkel cousine oma opa chef
  chefin kollege kollegin nachbar nachbarin mitbewohner mitbewohnerin vermieter vermieterin lehrer lehrerin arzt ärztin zahnarzt zahnärztin
  hund katze kater pferd`.split(/\s+/),
);

/** Weight of a name for the word that introduces it. */
const ALIAS_WEIGHT = 0.8;
/** Number of the newest passages with a relation in which names are looked for, and maximum number of names. */
const MAX_PASSAGES = 40;
const MAX_NAMES = 3;

const NAME = String.raw`(?<name>\p{Lu}\p{Ll}[\p{L}'’-]*)`;
const OWNER = String.raw`(?:[Mm]y|[Oo]ur|[Mm]ein(?:e[rmn]?)?|[Uu]nser(?:e[rmn]?)?)`;
const QUALITY = String.raw`(?:[\p{Ll}-]+ ){0,2}`;

/**
 * Adds the names of people to the concepts of the words by which a query calls them: "my sister" is Anna too, if a passage says "my sister
 * Anna" or "Anna is my sister".
 */
export function addAliases(concepts: readonly Concept[], index: MemoryIndex): void {
  for (const concept of concepts) {
    if (concept.word === null || !RELATIONS.has(concept.word)) continue;
    const known = new Set(concept.terms.map(({ term }) => term));
    for (const name of findNames(concept.word, concept, index))
      for (const language of index.languages) {
        const [word] = splitWords(name);
        const term = word && toTerm(word, language);
        if (term === undefined || known.has(term)) continue;
        known.add(term);
        concept.terms.push({ term, weight: ALIAS_WEIGHT });
      }
  }
}

/** Names by which passages introduce a relation, the newest first. */
function findNames(relation: string, { terms }: Concept, index: MemoryIndex): Set<string> {
  const numbers = terms
    .filter(({ weight }) => weight === 1)
    .flatMap(
      ({ term }) =>
        index.find(term)?.lists.flatMap(({ docs, count }) => [...docs.subarray(Math.max(0, count - MAX_PASSAGES), count)]) ?? [],
    )
    .sort((a, b) => b - a);
  const patterns = [
    new RegExp(String.raw`\b${OWNER} ${QUALITY}${relation},? (?:(?:is|was|heißt|ist) )?(?:(?:called|named) )?${NAME}`, 'u'),
    new RegExp(String.raw`${NAME},? (?:(?:is|was|ist) )?${OWNER} ${QUALITY}${relation}(?!\p{L})`, 'u'),
  ];
  const names = new Set<string>();
  for (const number of new Set(numbers.slice(0, MAX_PASSAGES))) {
    const passage = index.passage(number);
    if (!passage) continue;
    // The relation is in lower case in English and a capitalized noun in German.
    const text = parseSpoken(passage).text.replaceAll(new RegExp(relation, 'giu'), relation);
    for (const pattern of patterns) {
      const name = pattern.exec(text)?.groups?.['name'];
      if (name !== undefined) names.add(name);
    }
    if (names.size >= MAX_NAMES) break;
  }
  return names;
}
