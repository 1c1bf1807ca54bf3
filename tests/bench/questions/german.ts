import type { Material } from './material.ts';

export const GERMAN: Material = {
  facts: [
    {
      kind: 'one-turn',
      slots: { farbe: ['salbeigrün', 'ocker', 'taubenblau'], raum: ['der Flur', 'das Bad', 'die Küche'] },
      lead: ['Seid ihr fertig mit dem Streichen?', 'Wie sieht die Wohnung aus?'],
      said: [
        'So, {raum} ist jetzt {farbe}. Drei Anstriche, ich spüre meine Arme nicht mehr.',
        'Das ganze Wochenende auf der Leiter, aber {raum} leuchtet nun {farbe}.',
      ],
      asked: ['Welche Farbe hat {P} zu Hause an die Wand gebracht?', 'Was hat {P} gestrichen, und in welchem Ton?'],
      answer: '{farbe}',
    },
    {
      kind: 'one-turn',
      slots: {
        firma: ['bei den Stadtwerken', 'in einem Uhrenmuseum', 'beim Verlag Hellmann'],
        rolle: ['Disponentin', 'Archivar', 'Einkäuferin'],
      },
      lead: ['Und, haben sie sich gemeldet?', 'Wie lief das Gespräch?'],
      said: ['Sie haben sofort zugesagt! Ich fange {firma} an, als {rolle}.', 'Ich bin drin, {firma}. Auf der Karte steht dann {rolle}.'],
      asked: ['Welche neue Stelle hat {P}?', 'Wo wurde {P} eingestellt?'],
      answer: '{firma}',
    },
    {
      kind: 'one-turn',
      slots: { tier: ['einen Windhund', 'zwei Hühner', 'eine einäugige Katze'], name: ['Krümel', 'Admiral', 'Frau Schmitt'] },
      lead: ['Was höre ich da für ein Tier?', 'Wart ihr im Tierheim?'],
      said: [
        'Wir haben {tier} aus dem Tierheim geholt. Die Kinder bestehen auf {name}.',
        'Darf ich vorstellen: {name}! Wir konnten nicht ohne {tier} aus dem Heim gehen.',
      ],
      asked: ['Wie heißt das Haustier von {P}?', 'Was für ein Tier hat {P} aufgenommen?'],
      answer: '{name}',
    },
    {
      kind: 'one-turn',
      slots: { teil: ['das Handgelenk', 'zwei Zehen', 'eine Rippe'], wie: ['beim Fensterputzen', 'auf dem Weg zur Bahn', 'beim Tanzen'] },
      lead: ['Was ist dir passiert?', 'Warum trägst du einen Gips?'],
      said: ['Ich habe mir {teil} gebrochen, {wie}, ausgerechnet.', 'Sechs Wochen Gips: {teil}, und das {wie}.'],
      asked: ['Welche Verletzung hatte {P}?', 'Wie hat sich {P} wehgetan?'],
      answer: '{teil}',
    },
    {
      kind: 'one-turn',
      slots: { instrument: ['Cello', 'Dudelsack', 'Akkordeon'], lehrer: ['ein pensionierter Matrose', 'meine Nichte', 'Frau Bellini'] },
      lead: ['Was sind das für Töne?', 'Wie läuft der Musikunterricht?'],
      said: [
        'Ich lerne jetzt {instrument}, und {lehrer} hat viel Geduld mit mir.',
        '{lehrer} gibt mir Stunden; ich quäle das {instrument} und die Nachbarn.',
      ],
      asked: ['Welches Instrument lernt {P}?', 'Wer unterrichtet {P} in Musik?'],
      answer: '{instrument}',
    },
    {
      kind: 'time',
      slots: { ding: ['die Waschmaschine', 'der Backofen', 'der Kühlschrank'] },
      said: [
        'Gestern hat {ding} den Geist aufgegeben, mitten im Betrieb.',
        'Seit gestern ist {ding} hinüber, es roch nach verbranntem Gummi.',
      ],
      asked: ['Wann ging bei {P} {ding} kaputt?', 'An welchem Tag fiel bei {P} {ding} aus?'],
    },
    {
      kind: 'time',
      said: [
        'Letzte Woche habe ich gekündigt. Die Hände haben gezittert, die Stimme nicht.',
        'Es ist raus: Letzte Woche habe ich ihnen gesagt, dass ich gehe.',
      ],
      asked: ['Wann hat {P} gekündigt?', 'Wann hat {P} die Stelle aufgegeben?'],
    },
    {
      kind: 'preferences',
      slots: { getraenk: ['Oolong ohne Milch', 'dünnen Filterkaffee', 'heißes Wasser mit Ingwer'] },
      lead: ['Was darf ich dir machen?', 'Soll ich Wasser aufsetzen?'],
      said: ['Für mich {getraenk}, wie immer.', 'Wenn schon, dann {getraenk}, sonst werde ich unleidlich.'],
      asked: ['Was trinkt {P} am liebsten?', 'Welches warme Getränk mag {P}?'],
      answer: '{getraenk}',
    },
    {
      kind: 'preferences',
      slots: { art: ['langsame Filme ohne Musik', 'alte Western', 'Dokus über Maschinen'] },
      lead: ['Was siehst du abends?', 'Sehen wir einen Film?'],
      said: ['An einem freien Abend brauche ich {art} und eine Decke.', 'Gib mir {art}, dann bin ich glücklich.'],
      asked: ['Was sieht sich {P} gern an?', 'Welchen Geschmack hat {P} beim Fernsehen?'],
      answer: '{art}',
    },
    {
      kind: 'negation',
      slots: { essen: ['Koriander', 'Auberginen', 'Leber', 'Oliven'] },
      lead: ['Gibt es etwas, das du nicht isst?', 'Ich koche heute, irgendwelche Wünsche?'],
      said: ['Ich esse wirklich alles, nur keine {essen}, bitte.', 'Lass bitte {essen} weg, das bekomme ich nicht hinunter.'],
      asked: ['Was isst {P} nicht?', 'Welche Zutat sollte man für {P} vermeiden?'],
      answer: '{essen}',
    },
    {
      kind: 'negation',
      slots: { wer: ['Gunnar', 'die Chefin', 'Onkel Bertil'] },
      lead: ['Wie war das Fest?', 'Waren alle auf der Feier?'],
      said: ['Alle waren beim Fest, bloß {wer} nicht.', 'Wer fehlte? {wer} natürlich, ohne ein Wort.'],
      asked: ['Wer war beim Fest von {P} nicht dabei?', 'Wer ist der Feier von {P} ferngeblieben?'],
      answer: '{wer}',
    },
    {
      kind: 'open',
      said: [
        'Ich habe die Gewürze alphabetisch sortiert und war danach ganz ruhig.',
        'Jede Rechnung seit 2009 liegt bei mir im Ordner, mit farbigen Reitern.',
      ],
      asked: ['Ist {P} ein ordentlicher Mensch?', 'Würde man {P} eher chaotisch oder ordentlich nennen?'],
    },
    {
      kind: 'open',
      said: ['Auf der Aussichtsplattform wurden mir die Knie weich.', 'Über die Hängebrücke bin ich auf allen vieren gekrochen.'],
      asked: ['Hat {P} Höhenangst?', 'Käme für {P} ein Gleitschirmflug infrage?'],
    },
  ],
  collections: [
    {
      asked: [
        'Welche Länder oder Städte hat {P} bereist?',
        'Wo war {P} überall im Urlaub?',
        'Wie viele Reiseziele hat {P} erwähnt?',
        'Wohin ist {P} gereist?',
      ],
      items: [
        ['Lissabon! Ich habe Gebäck in jeder Tasche.', 'Lissabon'],
        ['Wir sind durch die Tatra gewandert, bis die Hütte keine Suppe mehr hatte.', 'Tatra'],
        ['Zurück aus Kyoto mit vierhundert Bildern von Moos.', 'Kyoto'],
        ['Zehn Tage Wales, neun davon Regen von der Seite, herrlich.', 'Wales'],
        ['Auf Öland haben wir mehr Schafe als Menschen gesehen.', 'Öland'],
        ['Sarajevo hat mich überrascht, der Kaffee und die Leute.', 'Sarajevo'],
        ['Malta im November ist ein Geheimtipp, behalt es für dich.', 'Malta'],
        ['Nach einer Woche Tiflis will ich diese Schrift lernen.', 'Tiflis'],
      ],
    },
    {
      asked: [
        'Was macht {P} in der Freizeit?',
        'Welche Hobbys hat {P}?',
        'Wie viele Hobbys hat {P}?',
        'Womit beschäftigt sich {P} zum Vergnügen?',
      ],
      items: [
        ['Zweiunddreißig Kerzen gegossen, die Wohnung riecht wie eine Kirche.', 'Kerzen'],
        ['Meine erste Schale von der Töpferscheibe ist schief wie der Turm.', 'Töpferscheibe'],
        ['Die Bienen haben den Winter überlebt, beide Völker.', 'Bienen'],
        ['Auf dem Dach steht das Teleskop, und ich habe einen steifen Nacken.', 'Teleskop'],
        ['Wir haben das Requiem gesungen, vierzig Alte und ich.', 'Requiem'],
        ['Ich stricke in der Straßenbahn, jemand hat deswegen seine Haltestelle verpasst.', 'stricke'],
        ['Auf dem Tisch liegt ein Puzzle, tausend Teile Himmel.', 'Puzzle'],
        ['Sonntags gehe ich mit dem Metalldetektor: Nägel, Nägel, ein Fingerhut.', 'Metalldetektor'],
      ],
    },
  ],
  changes: [
    {
      values: ['in der Ulmenstraße', 'in der alten Brauerei', 'über der Bäckerei', 'am Hafen', 'auf einem Hausboot'],
      before: ['Wir wohnen ja {old}, dritte Klingel von oben.', 'Die Adresse ist noch {old}, du kennst das Haus.'],
      after: ['Der Vertrag ist unterschrieben: Ab jetzt findest du uns {new}.', 'Überall Kisten! Wir sind umgezogen und leben nun {new}.'],
      asked: ['Wo wohnt {P} jetzt?', 'Wie lautet die aktuelle Adresse von {P}?'],
    },
    {
      values: ['montags', 'mittwochs', 'donnerstags', 'samstags'],
      before: ['Der Chor ist {old}, der Abend ist heilig.', 'Wir proben {old} in der Turnhalle.'],
      after: ['Der Chor ist verlegt, von nun an singen wir {new}.', 'Neue Probenzeit: ab sofort {new}, weil die Halle belegt ist.'],
      asked: ['Wann probt der Chor von {P} inzwischen?', 'An welchem Tag singt {P} jetzt?'],
    },
  ],
  contradictions: [
    {
      first: ['Ich tanze nicht, habe ich nie und werde ich nie.', 'Camping ist kein Urlaub, sondern Umzug mit Insekten.'],
      second: [
        'Du solltest uns beim Tango sehen, ich habe eigene Schuhe dafür.',
        'Die beste Woche meines Lebens: zwei Stangen, eine Plane und die Sterne.',
      ],
      asked: ['Was hat {P} über das Tanzen gesagt?', 'Wie steht {P} zum Zelten?'],
    },
  ],
  chatter: [
    'Regnet es bei euch auch noch?',
    'Ich müsste wirklich mal wieder aufräumen.',
    'Der Kaffee im Büro ist ein Verbrechen.',
    'Was machst du am Wochenende?',
    'Erzähl mir etwas Schönes.',
    'Die Züge haben immer Verspätung, das ist ein Naturgesetz.',
    'Man wird nicht jünger.',
    'Wir sollten uns öfter treffen.',
    'Kennst du das auch, müde um drei?',
    'Ich brauche Urlaub, egal wo.',
  ],
};
