/** Words that name nothing, in English and German, folded and without accents. */
const english =
  "a about above after again against all also am an and any are as at be because been before being below between both but by can could did do does doing down during each few for from further had has have having he her here hers him his how i if in into is it its itself just let may me might more most must my no nor not now of off on once only or other our out over own same shall she should so some such than that the their them then there these they this those through to too under until up upon us very was we were what when where which while who whom whose why will with would you your";
const german =
  "aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus bei beim bin bis bist da damit dann das dass dasselbe dazu dein deine dem den denn der deren des dessen die dies diese dieselbe diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einig einige er es etwas euer eure fur gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja jede jedem jeden jeder jedes jene jenem jenen jener kann kein keine keinem keinen keiner konnen konnte man manche mein meine mich mir mit muss musste nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie sind so solche soll sollte sondern sonst uber um und uns unser unter vom von vor wahrend war waren was weil welche welchem welchen welcher wenn wer werde werden wie wieder will wir wird wirst wo wohin wollen wollte wurde wurden zu zum zur zwar zwischen";

const words: ReadonlySet<string> = new Set(`${english} ${german}`.split(" "));
const germanWords: ReadonlySet<string> = new Set(german.split(" "));
const englishWords: ReadonlySet<string> = new Set(english.split(" "));

export function isStopword(word: string): boolean {
  return words.has(word);
}

/** Guesses the language by stopwords; English in a tie. */
export function isGerman(foldedWords: readonly string[]): boolean {
  let balance = 0;
  for (const word of foldedWords) balance += Number(germanWords.has(word)) - Number(englishWords.has(word));
  return balance > 0;
}
